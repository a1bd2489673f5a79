package let alinaVersion = "1.1.0"
