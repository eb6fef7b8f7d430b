// SPDX-License-Identifier: Apache-2.0

// A program to be inlined: sorting, maps, closures, generic functions, goroutines.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

type vec struct{ x, y float64 }

func (v vec) dot(o vec) float64 { return v.x*o.x + v.y*o.y }
func (v vec) length() float64   { return v.dot(v) }

func apply[T any](items []T, f func(T) T) []T {
	for i := range items {
		items[i] = f(items[i])
	}
	return items
}

func work(round int) float64 {
	vecs := make([]vec, 0, 1000)
	for i := 0; i < 1000; i++ {
		n := float64((i*7919 + round) % 1009)
		vecs = append(vecs, vec{n, -n})
	}
	apply(vecs, func(v vec) vec { return vec{v.y, v.x} })
	sort.Slice(vecs, func(a, b int) bool { return vecs[a].length() < vecs[b].length() })
	return vecs[0].length() + vecs[len(vecs)-1].length()
}

func main() {
	rounds := 1
	if len(os.Args) > 1 {
		rounds, _ = strconv.Atoi(os.Args[1])
	}
	results := make(chan float64)
	go func() {
		for round := 0; round < rounds; round++ {
			results <- work(round)
		}
		close(results)
	}()
	seen := map[string]int{}
	for r := range results {
		seen[strings.ToUpper(strconv.FormatFloat(r, 'e', 3, 64))]++
	}
	fmt.Println(len(seen))
}
