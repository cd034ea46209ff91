package main

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
)

// describe returns what a package exports by name, and the fields and methods of each
// type below it.
func describe(p *types.Package) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s\n\n", p.Path())
	names := types.Qualifier(func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	})
	for _, name := range p.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		switch object := p.Scope().Lookup(name).(type) {
		case *types.Const:
			fmt.Fprintf(&b, "%s = %s\n", types.ObjectString(object, names), object.Val().ExactString())
		case *types.TypeName:
			describeType(&b, object, names)
		default:
			fmt.Fprintf(&b, "%s\n", types.ObjectString(object, names))
		}
	}
	return b.Bytes()
}

// describeType describes an alias by what it stands for, which may be a type of a
// package that others cannot import.
func describeType(b *bytes.Buffer, object *types.TypeName, names types.Qualifier) {
	of := types.Unalias(object.Type())
	name, equals := types.TypeString(object.Type(), names), ""
	if object.IsAlias() {
		equals = "= " + types.TypeString(of, names) + " "
	}
	switch underlying := of.Underlying().(type) {
	case *types.Struct:
		fmt.Fprintf(b, "type %s %sstruct\n", name, equals)
		hidden := false
		for field := range underlying.Fields() {
			if !field.Exported() {
				hidden = true
				continue
			}
			fmt.Fprintf(b, "\t%s %s\n", field.Name(), types.TypeString(field.Type(), names))
		}
		if hidden {
			fmt.Fprintln(b, "\tand unexported fields")
		}
	case *types.Interface:
		fmt.Fprintf(b, "type %s %sinterface\n", name, equals)
		for method := range underlying.Methods() {
			fmt.Fprintf(b, "\t%s%s\n", method.Name(), types.TypeString(method.Type(), names)[len("func"):])
		}
		return
	default:
		fmt.Fprintf(b, "type %s %s%s\n", name, equals, types.TypeString(underlying, names))
	}
	values := types.NewMethodSet(of)
	for method := range types.NewMethodSet(types.NewPointer(of)).Methods() {
		if !method.Obj().Exported() {
			continue
		}
		receiver := "*" + name
		if values.Lookup(method.Obj().Pkg(), method.Obj().Name()) != nil {
			receiver = name
		}
		fmt.Fprintf(b, "\tfunc (%s) %s%s\n", receiver, method.Obj().Name(), types.TypeString(method.Type(), names)[len("func"):])
	}
}
