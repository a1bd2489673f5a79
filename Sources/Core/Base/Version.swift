/// The version of everything in this repository, as the four programs print it.
package let alinaVersion = "1.1.0"
