import type { Members } from '../terminology/index.js'
import type { Expansion, ExpansionEntry } from './expansion.js'

/** What was asked for, and where it may be declared. */
export interface DeclaredIn {
  readonly asked: readonly string[]
  readonly members: Members
}

/** The properties of an expansion: those of its entries, and those asked for that a code system declares. */
export function declaredProperties(entries: readonly ExpansionEntry[], { asked, members }: DeclaredIn): Expansion['properties'] {
  const found = new Map<string, string | undefined>()
  const open = [...entries]
  for (const entry of open) {
    open.push(...entry.contains)
    for (const { code, uri } of entry.properties) if (!found.has(code)) found.set(code, uri)
  }
  for (const code of asked) {
    const header = members.systems.find(({ provider }) => provider?.header.properties.has(code))?.provider?.header
    if (header !== undefined && !found.has(code)) found.set(code, header.properties.get(code))
  }
  return Array.from(found, ([code, uri]) => ({ code, ...(uri !== undefined && { uri }) }))
}
