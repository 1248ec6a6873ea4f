#![no_main]

ibid_fuzz::target!(Xls);
