//! The derive macro of the crate `ferroblosc`, which documents it and exports it with its feature
//! `derive`.

#![forbid(unsafe_code)]

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Index, Member, Result, Type};

/// Implements the trait `ferroblosc::Item` for a record.
#[proc_macro_derive(Item, attributes(item))]
pub fn derive_item(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    implement(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// The representations that matter.
#[derive(Clone, Copy, PartialEq)]
enum Repr {
    C,
    Transparent,
}

fn repr(input: &DeriveInput) -> Result<Repr> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("C") {
                found = Some(Repr::C);
            } else if meta.path.is_ident("transparent") {
                found = Some(Repr::Transparent);
            } else if meta.input.peek(syn::token::Paren) {
                // The argument of `align` and `packed`.
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    found.ok_or_else(|| {
        let text = "a record needs #[repr(C)] or #[repr(transparent)]: otherwise the order of its \
                    fields is unspecified";
        Error::new(input.ident.span(), text)
    })
}

/// Whether the field has the attribute `#[item(padding)]`.
fn is_padding(attributes: &[Attribute]) -> Result<bool> {
    let mut is_padding = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("item")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("padding") {
                return Err(meta.error("the only attribute is #[item(padding)]"));
            }
            is_padding = true;
            Ok(())
        })?;
    }
    Ok(is_padding)
}

/// Splits an array of any number of dimensions into the type of its items and its lengths.
fn split_arrays(mut ty: &Type) -> (&Type, Vec<&syn::Expr>) {
    let mut lens = Vec::new();
    while let Type::Array(array) = ty {
        lens.push(&array.len);
        ty = &array.elem;
    }
    (ty, lens)
}

fn name_of(number: usize, field: &Field) -> (String, Member) {
    match &field.ident {
        Some(ident) => {
            let name = ident.to_string();
            (name.trim_start_matches("r#").to_owned(), Member::Named(ident.clone()))
        }
        // NumPy's names of fields without names.
        None => (format!("f{number}"), Member::Unnamed(Index::from(number))),
    }
}

fn implement(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.span(), "only a struct can be a record"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new(input.generics.span(), "a record cannot have parameters"));
    }
    if matches!(data.fields, Fields::Unit) || data.fields.is_empty() {
        return Err(Error::new(input.ident.span(), "a record needs at least one field"));
    }
    let ident = &input.ident;
    let (assertions, body) = match repr(input)? {
        Repr::C => record(ident, &data.fields)?,
        Repr::Transparent => (TokenStream::new(), wrapper(ident, &data.fields)?),
    };
    Ok(quote! {
        #assertions

        // SAFETY: the assertions and the bounds check the requirements: all fields are items, and
        // together they have the size of the type.
        #[automatically_derived]
        #[allow(unsafe_code)]
        unsafe impl ::ferroblosc::Item for #ident {
            #body
        }
    })
}

/// Returns the methods of a type with the layout of its only field.
fn wrapper(ident: &syn::Ident, fields: &Fields) -> Result<TokenStream> {
    if fields.len() != 1 {
        return Err(Error::new(ident.span(), "a transparent record needs exactly one field"));
    }
    let ty = fields.iter().map(|field| &field.ty);
    let item = quote! { #(#ty)* as ::ferroblosc::Item };
    Ok(quote! {
        fn dtype() -> ::std::borrow::Cow<'static, str> {
            <#item>::dtype()
        }

        fn matches(dtype: &str) -> bool {
            <#item>::matches(dtype)
        }

        fn normalize(bytes: &mut [u8]) {
            <#item>::normalize(bytes)
        }
    })
}

/// Returns assertions about the layout, and the methods of a record.
fn record(ident: &syn::Ident, fields: &Fields) -> Result<(TokenStream, TokenStream)> {
    let mut sizes = Vec::new();
    let mut entries = Vec::new();
    let mut normalized = Vec::new();
    for (number, field) in fields.iter().enumerate() {
        let (name, member) = name_of(number, field);
        let ty = &field.ty;
        let is_padding = is_padding(&field.attrs)?;
        let (item, lens) = split_arrays(ty);
        let item = quote! { #item as ::ferroblosc::Item };
        sizes.push(quote! { ::core::mem::size_of::<#ty>() });
        entries.push(quote! {
            ::ferroblosc::item::record::Field {
                name: #name,
                dtype: <#item>::dtype,
                matches: <#item>::matches,
                shape: &[#(#lens),*],
                offset: ::core::mem::offset_of!(#ident, #member),
                size: ::core::mem::size_of::<#ty>(),
                is_padding: #is_padding,
            }
        });
        normalized.push(quote! {
            <#item>::normalize(
                &mut record[::core::mem::offset_of!(#ident, #member)..]
                    [..::core::mem::size_of::<#ty>()],
            );
        });
    }
    let padding = format!(
        "{ident} has padding; add fields with #[item(padding)] for it, or use #[repr(C, packed)]"
    );
    let assertions = quote! {
        const _: () = {
            assert!(::core::mem::size_of::<#ident>() == 0 #(+ #sizes)*, #padding);
            assert!(::core::mem::size_of::<#ident>() > 0, "a record needs at least one byte");
        };
    };
    let body = quote! {
        fn dtype() -> ::std::borrow::Cow<'static, str> {
            ::ferroblosc::item::record::dtype(&[#(#entries),*]).into()
        }

        fn matches(dtype: &str) -> bool {
            ::ferroblosc::item::record::matches(dtype, &[#(#entries),*])
        }

        fn normalize(bytes: &mut [u8]) {
            for record in bytes.chunks_exact_mut(::core::mem::size_of::<#ident>()) {
                #(#normalized)*
            }
        }
    };
    Ok((assertions, body))
}
