"""Short plans: a plan as a person writes it, compiled to `plan_json_v1` and back.

A text in YAML, TOML or Markdown is read into `entries` with their lines (`yaml_text`,
`toml_text`, `markdown_text`), the entries into a `ShortPlan` (`reading`), and that is
compiled to the contract's plan (`compiling`). `shortening` and the writers go back.
"""
