package ipc

import "github.com/vmihailenco/msgpack/v5/msgpcode"

// kind is a MessagePack type without its width.
type kind uint8

const (
	kindInvalid kind = iota // code 0xc1
	kindNil
	kindBool
	kindUint
	kindInt // signed widths; the value may still be positive
	kindFloat
	kindStr
	kindBin
	kindArray
	kindMap
	kindExt
)

func (k kind) String() string {
	return [...]string{"invalid", "nil", "bool", "uint", "int", "float", "str", "bin", "array", "map", "ext"}[k]
}

func kindOf(code byte) kind {
	switch {
	case code <= msgpcode.PosFixedNumHigh:
		return kindUint
	case code >= msgpcode.NegFixedNumLow:
		return kindInt
	case msgpcode.IsFixedMap(code):
		return kindMap
	case msgpcode.IsFixedArray(code):
		return kindArray
	case msgpcode.IsFixedString(code):
		return kindStr
	}
	return widthKinds[code-msgpcode.Nil]
}

// widthKinds holds the codes from 0xc0 to 0xdf.
var widthKinds = [...]kind{
	kindNil, kindInvalid, kindBool, kindBool,
	kindBin, kindBin, kindBin, kindExt, kindExt, kindExt,
	kindFloat, kindFloat,
	kindUint, kindUint, kindUint, kindUint,
	kindInt, kindInt, kindInt, kindInt,
	kindExt, kindExt, kindExt, kindExt, kindExt,
	kindStr, kindStr, kindStr,
	kindArray, kindArray, kindMap, kindMap,
}
