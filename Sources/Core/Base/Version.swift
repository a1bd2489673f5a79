/// The version of all programs, as they print it.
package let alinaVersion = "1.1.0"
