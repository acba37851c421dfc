/** Codes by their system: whether one is among them is found without making a text of both. */
export type CodesBySystem = ReadonlyMap<string, ReadonlySet<string>>

/** Puts codes together by their system. */
export function codesBySystem(codes: Iterable<{ readonly system: string; readonly code: string }>): CodesBySystem {
  const bySystem = new Map<string, Set<string>>()
  for (const { system, code } of codes) {
    const own = bySystem.get(system)
    if (own === undefined) bySystem.set(system, new Set([code]))
    else own.add(code)
  }
  return bySystem
}
