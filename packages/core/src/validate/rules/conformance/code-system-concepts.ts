import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { CodeSystemProvider } from '../../../terminology/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import type { Work } from '../../../work/index.js'
import { STANDARD } from './code-system-properties.js'

/** Checks the concepts of a CodeSystem: that their properties are declared and of the declared type, and that those of a supplement are known. */
export function* checkConcepts(run: Run, node: FhirNode): Work<void> {
  const types = new Map(childrenOf(run, node, 'property').map((one) => [textOf(one, 'code'), textOf(one, 'type')]))
  yield* checkLevel(run, node, { types, supplemented: supplementedBy(run, node) })
}

interface Known {
  /** Of the declared properties, by code. */
  readonly types: ReadonlyMap<string | undefined, string | undefined>
  /** The code system that is supplemented, where it is here in full. */
  readonly supplemented: CodeSystemProvider | undefined
}

function supplementedBy(run: Run, node: FhirNode): CodeSystemProvider | undefined {
  const canonical = textOf(node, 'content') === 'supplement' ? textOf(node, 'supplements') : undefined
  const family = canonical === undefined ? PENDING : run.facts.codeSystem(canonical)
  const provider = family === PENDING ? undefined : family.provider(canonical?.split('|', 2)[1])
  return provider?.header.complete === true ? provider : undefined
}

function* checkLevel(run: Run, holder: FhirNode, known: Known): Work<void> {
  for (const concept of childrenOf(run, holder, 'concept')) {
    yield
    const code = textOf(concept, 'code')
    if (code !== undefined && known.supplemented !== undefined && known.supplemented.find(code) === undefined) {
      run.sink.report('code-system-supplement', concept, {
        text: `The code system ${quoted(known.supplemented.header.url)}, which is supplemented, has no code ${quoted(code)}.`,
      })
    }
    for (const property of childrenOf(run, concept, 'property')) checkProperty(run, property, known)
    yield* checkLevel(run, concept, known)
  }
}

function checkProperty(run: Run, property: FhirNode, { types }: Known): void {
  const code = textOf(property, 'code')
  const [value] = childrenOf(run, property, 'value')
  if (code === undefined || (!types.has(code) && STANDARD.has(code))) return
  const type = types.get(code)
  if (!types.has(code)) run.sink.report('code-system-property', property, { text: `The property ${quoted(code)} is not declared.` })
  else if (type !== undefined && value !== undefined && value.type.name !== type)
    run.sink.report('code-system-property', property, {
      text: `The property ${quoted(code)} is declared with the type ${type}, but has a ${value.type.name} here.`,
    })
}
