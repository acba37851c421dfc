import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { CodeSystemProvider } from '../../../terminology/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'

/** Checks that the codes of a ConceptMap exist in the code systems of their group, where these are known completely. */
export function checkConceptMap(run: Run, node: FhirNode): void {
  for (const group of childrenOf(run, node, 'group')) {
    const source = systemOf(run, group, 'source')
    const target = systemOf(run, group, 'target')
    for (const element of childrenOf(run, group, 'element')) {
      checkCode(run, element, source)
      for (const one of childrenOf(run, element, 'target')) checkCode(run, one, target)
    }
  }
}

function systemOf(run: Run, group: FhirNode, name: 'source' | 'target'): CodeSystemProvider | undefined {
  const url = textOf(group, name)
  const version = textOf(group, `${name}Version`)
  const family = url === undefined ? PENDING : run.facts.codeSystem(version === undefined ? url : `${url}|${version}`)
  const provider = family === PENDING ? undefined : family.provider(version)
  return provider?.header.complete === true ? provider : undefined
}

function checkCode(run: Run, holder: FhirNode, provider: CodeSystemProvider | undefined): void {
  run.step()
  const code = textOf(holder, 'code')
  if (provider === undefined || code === undefined || provider.find(code) !== undefined) return
  run.sink.report('concept-map-code', holder, {
    text: `The code system ${quoted(provider.header.url)} has no code ${quoted(code)}.`,
    at: 'code',
  })
}
