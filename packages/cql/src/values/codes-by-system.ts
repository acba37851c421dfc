/** Codes by their system, so that one is found without building a key from system and code. */
export type CodesBySystem = ReadonlyMap<string, ReadonlySet<string>>

/** Groups codes by their system. */
export function codesBySystem(codes: Iterable<{ readonly system: string; readonly code: string }>): CodesBySystem {
  const bySystem = new Map<string, Set<string>>()
  for (const { system, code } of codes) {
    const own = bySystem.get(system)
    if (own === undefined) bySystem.set(system, new Set([code]))
    else own.add(code)
  }
  return bySystem
}
