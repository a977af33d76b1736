/** The grammar of lists: words with values, and text. See docs/filters.md. */

export function filterOf(
  words: Readonly<Record<string, string | readonly string[] | undefined>>,
  text = "",
): string {
  const parts: string[] = [];
  for (const [word, values] of Object.entries(words)) {
    for (const value of typeof values === "string" ? [values] : (values ?? [])) {
      if (value !== "") parts.push(`${word}:${quoted(value)}`);
    }
  }
  if (text.trim()) parts.push(text.trim());
  return parts.join(" ");
}

/** A value as it stands in a filter, whatever is in it. */
export function quoted(value: string): string {
  return `"${value.replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;
}
