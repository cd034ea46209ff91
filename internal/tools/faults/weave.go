package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
)

// source is a parsed Go file.
type source struct {
	text []byte
	set  *token.FileSet
	file *ast.File
}

func read(text []byte) (*source, error) {
	s := &source{text: text, set: token.NewFileSet()}
	var err error
	s.file, err = parser.ParseFile(s.set, "", text, parser.SkipObjectResolution)
	return s, err
}

// between returns the text from one position to another.
func (s *source) between(from, to token.Pos) string {
	return string(s.text[s.set.Position(from).Offset:s.set.Position(to).Offset])
}

// changed returns the places of the functions of s whose bodies differ from those of was.
// It returns nil if another declaration differs.
func (s *source) changed(was *source) []int {
	if len(s.file.Decls) != len(was.file.Decls) {
		return nil
	}
	var places []int
	for i := range s.file.Decls {
		now, before := s.file.Decls[i], was.file.Decls[i]
		if s.between(now.Pos(), now.End()) == was.between(before.Pos(), before.End()) {
			continue
		}
		f, isFunc := now.(*ast.FuncDecl)
		g, wasFunc := before.(*ast.FuncDecl)
		if !isFunc || !wasFunc || s.between(f.Pos(), f.Body.Pos()) != was.between(g.Pos(), g.Body.Pos()) {
			return nil
		}
		places = append(places, i)
	}
	return places
}

// weave returns a Go file with all faults that change only bodies of functions. Each such
// body is a function of its own, in FILE fault and number, as the compiler says. weave
// sets alone in the other faults.
func weave(text []byte, faults []*fault) ([]byte, error) {
	was, err := read(text)
	if err != nil {
		return nil, err
	}
	cases := make([]string, len(was.file.Decls)) // of each function's switch
	var bodies bytes.Buffer
	for _, f := range faults {
		now, err := read(f.text)
		var places []int
		if err == nil {
			places = now.changed(was)
		}
		f.alone = len(places) == 0
		for _, i := range places {
			d := now.file.Decls[i].(*ast.FuncDecl)
			line := now.set.Position(d.Pos()).Line
			d.Name.Name = fmt.Sprintf("%s_fault%s", unexported(d.Name.Name), f.number)
			head, call := signature(now, d)
			fmt.Fprintf(&bodies, "\n//line fault%s.go:%d\n%s %s\n", f.number, line, head, now.between(d.Body.Pos(), d.End()))
			if d.Type.Results != nil {
				cases[i] += fmt.Sprintf("case %q: return %s; ", f.number, call)
			} else {
				cases[i] += fmt.Sprintf("case %q: %s; return; ", f.number, call)
			}
		}
	}
	var woven bytes.Buffer
	end := 0
	for i, c := range cases {
		if c == "" {
			continue
		}
		d := was.file.Decls[i].(*ast.FuncDecl)
		woven.Write(text[end:was.set.Position(d.Pos()).Offset])
		end = was.set.Position(d.Body.Lbrace).Offset + 1
		head, _ := signature(was, d)
		fmt.Fprintf(&woven, "%s { switch uidringFault { %s}; ", head, c)
	}
	woven.Write(text[end:])
	woven.Write(bodies.Bytes())
	return woven.Bytes(), nil
}

// unexported keeps the API and the methods that reflection sees as they are.
func unexported(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// signature returns a function without its body, and a call with its own parameters. It
// names the parameters that have no name.
func signature(s *source, d *ast.FuncDecl) (head, call string) {
	name := func(list *ast.FieldList) (names []string) {
		if list == nil {
			return nil
		}
		for i, field := range list.List {
			if len(field.Names) == 0 {
				field.Names = []*ast.Ident{ast.NewIdent("_")}
			}
			for j, name := range field.Names {
				if name.Name == "_" {
					field.Names[j] = ast.NewIdent(fmt.Sprintf("unnamed%d_%d", i, j))
				}
				names = append(names, field.Names[j].Name)
			}
		}
		return names
	}
	call = d.Name.Name
	if d.Recv != nil {
		for _, field := range d.Recv.List {
			if len(field.Names) == 0 || field.Names[0].Name == "_" {
				field.Names = []*ast.Ident{ast.NewIdent("unnamed")}
			}
			call = field.Names[0].Name + "." + call
		}
	}
	if types := name(d.Type.TypeParams); types != nil {
		call += "[" + strings.Join(types, ", ") + "]"
	}
	call += "(" + strings.Join(name(d.Type.Params), ", ")
	if list := d.Type.Params.List; len(list) > 0 {
		if _, variadic := list[len(list)-1].Type.(*ast.Ellipsis); variadic {
			call += "..."
		}
	}
	var text strings.Builder
	if err := format.Node(&text, s.set, &ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type}); err != nil {
		panic(err) // it was parsed
	}
	return text.String(), call + ")"
}
