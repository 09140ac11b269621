//! Form fields: a label, an input, what is wrong with it.

use leptos::prelude::*;

use crate::{
    config::form::{Draft, Field},
    page::frame::Frame,
};

/// Where a field's text is in the form.
pub type Access = fn(&mut Draft) -> &mut String;

fn text_of(draft: RwSignal<Draft>, access: Access) -> impl Fn() -> String + Copy + Send + 'static {
    move || draft.with(|draft| access(&mut draft.clone()).clone())
}

/// Id of a field's element.
pub fn field_id(field: Field) -> String {
    format!("{field:?}").to_ascii_lowercase()
}

/// What is wrong with a field, if anything.
fn wrong(field: Field) -> Memo<Option<String>> {
    let checked = Frame::get().checked;
    Memo::new(move |_| {
        checked.with(|checked| {
            let errors = checked.as_ref().err()?;
            let mine: Vec<_> = errors
                .iter()
                .filter(|error| error.field == field)
                .map(|error| error.message.as_str())
                .collect();
            (!mine.is_empty()).then(|| mine.join(" "))
        })
    })
}

/// What is wrong with a field, or else its hint.
#[component]
fn FieldNote(id: String, wrong: Memo<Option<String>>, hint: &'static str) -> impl IntoView {
    view! {
        <p class="field-note" id=id class:wrong=move || wrong.with(Option::is_some)>
            {move || wrong.get().unwrap_or_else(|| hint.to_owned())}
        </p>
    }
}

/// A line of text.
#[component]
pub fn TextField(
    /// Which field.
    field: Field,
    /// Its label.
    label: &'static str,
    /// Where its text is.
    access: Access,
    /// Its unit, or another word after it.
    #[prop(optional)]
    unit: &'static str,
    /// An example, shown while it is empty.
    #[prop(optional)]
    placeholder: &'static str,
    /// A sentence of explanation.
    #[prop(optional)]
    hint: &'static str,
    /// Whether numbers are typed.
    #[prop(default = true)]
    numeric: bool,
    /// Id of a list of suggestions.
    #[prop(optional)]
    list: &'static str,
) -> impl IntoView {
    let frame = Frame::get();
    let id = field_id(field);
    let note = format!("{id}-note");
    let wrong = wrong(field);
    let text = text_of(frame.draft, access);
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <span class="input">
                <input
                    id=id
                    type="text"
                    inputmode=if numeric { "decimal" } else { "text" }
                    class:numeric=numeric
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    placeholder=placeholder
                    list=list
                    prop:value=text
                    aria-invalid=move || wrong.with(Option::is_some).to_string()
                    aria-describedby=note.clone()
                    on:input:target=move |event| frame.draft.update(|draft| *access(draft) = event.target().value())
                />
                {(!unit.is_empty()).then(|| view! { <span class="unit">{unit}</span> })}
            </span>
            <FieldNote id=note wrong hint />
        </div>
    }
}

/// Several lines of text.
#[component]
pub fn AreaField(
    /// Which field.
    field: Field,
    /// Its label.
    label: &'static str,
    /// Where its text is.
    access: Access,
    /// An example, shown while it is empty.
    placeholder: &'static str,
    /// A sentence of explanation.
    hint: &'static str,
) -> impl IntoView {
    let frame = Frame::get();
    let id = field_id(field);
    let note = format!("{id}-note");
    let wrong = wrong(field);
    let text = text_of(frame.draft, access);
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <textarea
                id=id
                rows="3"
                spellcheck="false"
                placeholder=placeholder
                prop:value=text
                aria-invalid=move || wrong.with(Option::is_some).to_string()
                aria-describedby=note.clone()
                on:input:target=move |event| frame.draft.update(|draft| *access(draft) = event.target().value())
            ></textarea>
            <FieldNote id=note wrong hint />
        </div>
    }
}

/// A tick.
#[component]
pub fn CheckField(
    /// Its label.
    label: &'static str,
    /// Whether it is ticked.
    #[prop(into)]
    ticked: Signal<bool>,
    /// Called with the new state.
    #[prop(into)]
    set: Callback<bool>,
) -> impl IntoView {
    view! {
        <label class="tick">
            <input type="checkbox" prop:checked=ticked on:change:target=move |event| set.run(event.target().checked()) />
            {label}
        </label>
    }
}
