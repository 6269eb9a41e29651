// Package ipc speaks the ranking protocol of PROTOCOL.md: ranking requests from a proxy to a Task process over a Unix stream socket, many in
// flight on one connection, answered in any order.
//
// A frame is a 16-byte header and one MessagePack map:
//
//	byte 0        4                    12     13      14         16
//	     +--------+--------------------+------+-------+----------+----------------------+
//	     | length | exchange           | type | flags | reserved | payload              |
//	     | u32 LE | u64 LE             | u8   | u8=0  | u16=0    | `length` bytes       |
//	     +--------+--------------------+------+-------+----------+----------------------+
//
// From the bytes upwards: FrameReader finds frames (frame.go); Frame.Decode and AppendFrame turn payloads into messages and back
// (codec.go), after schema.go, which holds the tables of the document in its order; Conn pairs answers with requests (conn.go).
//
// The package trusts neither side. Every size, count and depth is checked before anything is allocated for it (limits.go), so decoding
// costs memory in proportion to the bytes received, never to what they claim.
package ipc
