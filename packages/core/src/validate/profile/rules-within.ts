/** A rule and all that are inside it, each once: content references lead back to rules around them. */
export function rulesWithin<Rule extends { readonly children: ReadonlyMap<string, Rule> }>(rule: Rule): readonly Rule[] {
  const found = new Set([rule])
  for (const one of found) for (const child of one.children.values()) found.add(child)
  return [...found]
}
