"""Groups of options that commands, forms and tables read without loading their functions."""
