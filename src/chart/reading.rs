//! Reading a drawing back: which row of its table stands under a pointer, and which value.

use super::{Drawing, canvas::Panel};

/// Where a row of the table twin stands in the picture, as shares of its width and height from the top left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Along the width.
    pub x: f64,
    /// Along the height; `None` for a row that is the whole column.
    pub y: Option<f64>,
}

/// The part of a picture's width that an axis takes, and the values at its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Across {
    /// Where it begins and ends, as shares of the picture's width.
    pub ends: (f64, f64),
    /// The values there, in the unit of [`Across::value`]: seconds of the run, or ms of a latency.
    pub values: (f64, f64),
    /// Whether equal lengths are equal ratios.
    pub log: bool,
}

impl Across {
    /// The axis of a panel in a picture of this width, px.
    pub(super) fn of(panel: &Panel, width: f64, values: (f64, f64), log: bool) -> Self {
        Self {
            ends: (panel.left / width, panel.right / width),
            values,
            log,
        }
    }

    /// The value at a share of the picture's width; beyond the ends that of the end.
    pub fn value(&self, x: f64) -> f64 {
        let share = ((x - self.ends.0) / (self.ends.1 - self.ends.0)).clamp(0.0, 1.0);
        let (low, high) = self.values;
        if self.log {
            low * (high / low).powf(share)
        } else {
            low + (high - low) * share
        }
    }
}

impl Panel {
    /// The place of the column at a value along x, in a picture of this width, px.
    pub(super) fn column(&self, x: f64, width: f64) -> Option<Place> {
        Some(Place {
            x: self.px(x) / width,
            y: None,
        })
    }
}

impl Drawing {
    /// The row nearest to a point of the picture, given as shares of it; `aspect` is its width by its height.
    pub fn row_at(&self, x: f64, y: f64, aspect: f64) -> Option<(usize, Place)> {
        let distance = |place: &Place| {
            let across = place.x - x;
            let down = place.y.map_or(0.0, |at| (at - y) / aspect);
            across * across + down * down
        };
        self.places
            .iter()
            .enumerate()
            .filter_map(|(row, place)| Some((row, (*place)?)))
            .min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(places: Vec<Option<Place>>) -> Drawing {
        Drawing {
            svg: String::new(),
            finding: String::new(),
            head: Vec::new(),
            rows: Vec::new(),
            places,
            across: None,
        }
    }

    #[test]
    fn the_nearest_row_is_read() {
        let column = |x| Some(Place { x, y: None });
        let columns = drawing(vec![column(0.2), None, column(0.6)]);
        assert_eq!(columns.row_at(0.1, 0.9, 2.0).unwrap().0, 0);
        assert_eq!(columns.row_at(0.5, 0.0, 2.0).unwrap().0, 2);
        assert_eq!(drawing(vec![None]).row_at(0.5, 0.5, 2.0), None);
        let dot = |x, y| Some(Place { x, y: Some(y) });
        // As wide as high: the second is nearer. Ten times as wide: heights count for little.
        let dots = drawing(vec![dot(0.5, 0.0), dot(0.7, 0.9)]);
        assert_eq!(dots.row_at(0.5, 0.9, 1.0).unwrap().0, 1);
        assert_eq!(dots.row_at(0.5, 0.9, 10.0).unwrap().0, 0);
    }

    #[test]
    fn a_share_of_the_width_is_a_value() {
        let linear = Across {
            ends: (0.1, 0.9),
            values: (10.0, 90.0),
            log: false,
        };
        assert!((linear.value(0.5) - 50.0).abs() < 1e-9);
        assert_eq!((linear.value(0.0), linear.value(1.0)), (10.0, 90.0));
        let log = Across {
            values: (1.0, 100.0),
            log: true,
            ..linear
        };
        assert!((log.value(0.5) - 10.0).abs() < 1e-9);
    }
}
