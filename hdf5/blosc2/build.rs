//! Link arguments of `libH5Zblosc2.so`.

fn main() {
    ferroblosc_capi_link::shared_library("libH5Zblosc2.so");
}
