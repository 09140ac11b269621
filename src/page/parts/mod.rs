//! Small pieces that several views use.

mod chart;
mod chart_tools;
mod events;
mod field;
mod figure;
mod server_details;
mod term;
mod verdict;

pub use chart::ChartView;
pub use events::EventTable;
pub use field::{AreaField, CheckField, TextField, field_id};
pub use figure::Figure;
pub use server_details::DetailsView;
pub use term::Term;
pub use verdict::VerdictBadge;
