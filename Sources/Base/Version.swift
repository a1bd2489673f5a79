/// The version of everything in this repository, as the four programs print it.
public let alinaVersion = "1.1.0"
