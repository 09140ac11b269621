//! A chart taken along: as SVG, as PNG, its figures as a table.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{HtmlCanvasElement, HtmlImageElement};

use crate::{
    chart::{self, Drawing},
    page::{browser, state::Page},
};

/// Pixels of the picture for each of the drawing's.
const PNG_SCALE: f64 = 2.0;

/// Buttons below a chart.
#[component]
pub fn ChartTools(
    /// What it shows.
    title: &'static str,
    /// The drawing.
    drawing: Signal<Drawing>,
) -> impl IntoView {
    let page = Page::get();
    let copied = RwSignal::new(None::<bool>);
    let name = move |ending: &str| {
        let slug: String = title
            .to_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        format!("streamgauge-{slug}.{ending}")
    };
    let refused = move |error: JsValue| page.notice(format!("The browser refused to save the picture: {error:?}"));
    let svg = move |_| {
        let svg = drawing.with_untracked(|drawing| chart::standalone(&drawing.svg));
        if let Err(error) = browser::save_file(&name("svg"), "image/svg+xml", &svg) {
            refused(error);
        }
    };
    let png = move |_| {
        let svg = drawing.with_untracked(|drawing| chart::standalone(&drawing.svg));
        spawn_local(async move {
            if let Err(error) = save_png(&name("png"), &svg).await {
                refused(error);
            }
        });
    };
    let table = move |_| {
        let text = drawing.with_untracked(markdown);
        spawn_local(async move { copied.set(Some(browser::copy(&text).await)) });
    };
    view! {
        <p class="chart-tools">
            <button type="button" class="link" aria-label=format!("SVG of {title}") on:click=svg>"SVG"</button>
            <button type="button" class="link" aria-label=format!("PNG of {title}") on:click=png>"PNG"</button>
            <button type="button" class="link" aria-label=format!("Copy table of {title}") on:click=table>"Copy table"</button>
            <span role="status">
                {move || copied.get().map(|done| if done { "Copied." } else { "The browser did not allow it." })}
            </span>
        </p>
    }
}

/// The table twin as Markdown.
fn markdown(drawing: &Drawing) -> String {
    let line = |cells: &[String]| {
        format!(
            "| {} |\n",
            cells
                .iter()
                .map(|cell| cell.replace('|', "\\|").replace('\n', " "))
                .collect::<Vec<_>>()
                .join(" | ")
        )
    };
    let rule = format!("|{}\n", "---|".repeat(drawing.head.len()));
    let rows: String = drawing.rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}{rows}", line(&drawing.head))
}

/// Draws the picture on a canvas and saves that.
async fn save_png(name: &str, svg: &str) -> Result<(), JsValue> {
    let document = web_sys::window()
        .and_then(|window| window.document())
        .ok_or(JsValue::NULL)?;
    let image = HtmlImageElement::new()?;
    image.set_src(&format!("data:image/svg+xml,{}", js_sys::encode_uri_component(svg)));
    JsFuture::from(image.decode()).await?;
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    canvas.set_width((f64::from(image.natural_width()) * PNG_SCALE) as u32);
    canvas.set_height((f64::from(image.natural_height()) * PNG_SCALE) as u32);
    let context: web_sys::CanvasRenderingContext2d = canvas.get_context("2d")?.ok_or(JsValue::NULL)?.dyn_into()?;
    let (width, height) = (f64::from(canvas.width()), f64::from(canvas.height()));
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, width, height)?;
    let name = name.to_owned();
    let save = Closure::once_into_js(move |blob: web_sys::Blob| _ = browser::save_blob(&name, &blob));
    canvas.to_blob(save.unchecked_ref())
}
