// SPDX-License-Identifier: Apache-2.0
//! A program to be inlined: sorting, maps, closures, generic functions, formatting.
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

trait Area {
    fn area(&self) -> f64;
    fn twice(&self) -> f64 {
        self.area() * 2.0
    }
}

impl Area for Shape {
    fn area(&self) -> f64 {
        match *self {
            Shape::Circle { radius } => radius * radius * 3.14,
            Shape::Square { side } => side * side,
        }
    }
}

fn largest<T: PartialOrd + Copy>(items: &[T]) -> Option<T> {
    items.iter().copied().fold(None, |best, item| match best {
        Some(b) if b >= item => Some(b),
        _ => Some(item),
    })
}

fn words(text: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        *found.entry(word.to_lowercase()).or_insert(0) += 1;
    }
    found
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1);
    let mut seen = HashMap::new();
    for round in 0..rounds {
        let mut shapes: Vec<Shape> = (0..1000u64)
            .map(|i| (i * 7919 + round) % 1009)
            .map(|n| if n % 2 == 0 { Shape::Circle { radius: n as f64 } } else { Shape::Square { side: n as f64 } })
            .collect();
        shapes.sort_by(|a, b| a.area().partial_cmp(&b.area()).unwrap());
        let sum: f64 = shapes.iter().map(Area::twice).sum();
        *seen.entry((sum as u64) % 97).or_insert(0u64) += round;
        if let Some(best) = largest(&shapes) {
            seen.insert(100 + round % 7, best.area() as u64);
        }
    }
    let text = format!("{:?}", seen);
    println!("{} {}", words(&text).len(), words("the quick fox and the lazy dog").len());
}
