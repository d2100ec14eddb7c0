"""Words of many languages, without any index: tokens, stems, kin, names that are no words."""
