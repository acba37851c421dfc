/** One step of a discriminator's path. */
export type DiscriminatorStep =
  | { readonly kind: 'child'; readonly name: string }
  | { readonly kind: 'extension'; readonly url: string }
  | { readonly kind: 'resolve' }
  | { readonly kind: 'type'; readonly type: string }

/** How each kind of step begins, and what it means; `undefined` for `$this`, which stays where it is. */
const STEPS: readonly (readonly [RegExp, (argument: string) => DiscriminatorStep | undefined])[] = [
  [/^extension\(['"]([^'"]*)['"]\)/, (url) => ({ kind: 'extension', url })],
  [/^(?:ofType|as)\((?:FHIR\.)?([A-Za-z0-9]+)\)/, (type) => ({ kind: 'type', type })],
  [/^resolve\(\)/, () => ({ kind: 'resolve' })],
  [/^\$this/, () => undefined],
  [/^([A-Za-z][A-Za-z0-9]*)(?:\[x\])?/, (name) => ({ kind: 'child', name })],
]

/** Parses the restricted FHIRPath of a discriminator. The path ends at the first step that is not understood. */
export function discriminatorSteps(path: string): readonly DiscriminatorStep[] {
  const steps: DiscriminatorStep[] = []
  let rest = path
  for (let next = stepAt(rest); next !== undefined; next = stepAt(rest)) {
    if (next.step !== undefined) steps.push(next.step)
    rest = rest.slice(next.length).replace(/^\./, '')
  }
  return steps
}

function stepAt(text: string): { readonly step: DiscriminatorStep | undefined; readonly length: number } | undefined {
  for (const [pattern, make] of STEPS) {
    const match = pattern.exec(text)
    if (match !== null) return { step: make(match[1] ?? ''), length: match[0].length }
  }
  return undefined
}
