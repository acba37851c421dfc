import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'

const MEASURE_LIBRARY_UNKNOWN: FindingDefinition = defineFinding(
  'measure-library-unknown',
  'information',
  'not-found',
  'Load the library; until then criteria are not checked against it.',
)
const MEASURE_CRITERIA: FindingDefinition = defineFinding('measure-criteria', 'error', 'invalid', 'Refer to a library of the measure.')

const CQL: ReadonlySet<string> = new Set(['text/cql', 'text/cql.identifier', 'text/cql-identifier'])
const QUALIFIED = /^([A-Za-z_][A-Za-z0-9_]{0,254})\.[A-Za-z_"]/

/** Measures. */
export const measureRule: ResourceRule = {
  on: ['Measure'],
  finds: [MEASURE_LIBRARY_UNKNOWN, MEASURE_CRITERIA],
  check: checkMeasure,
}

/** Checks that the libraries of a Measure are known, and that its CQL criteria name one of them. */
function checkMeasure(run: Run, node: FhirNode): void {
  const canonicals = childrenOf(run, node, 'library').flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  const libraries: JsonObject[] = []
  for (const canonical of canonicals) {
    const library = run.definitions.definition('Library', canonical)
    if (library === undefined) {
      run.findings.report(MEASURE_LIBRARY_UNKNOWN, node, {
        text: `The library ${quoted(canonical)} could not be found, so criteria are not checked against it.`,
      })
    } else if (library !== PENDING) libraries.push(library)
  }
  if (libraries.length > 0 && libraries.length === canonicals.length) checkCriteria(run, node, libraries)
}

function checkCriteria(run: Run, node: FhirNode, libraries: readonly JsonObject[]): void {
  const names = new Set(libraries.map((library) => stringAt(library, 'name')))
  for (const criteria of criteriaIn(run, node)) {
    if (!CQL.has(textOf(criteria, 'language') ?? '')) continue
    const name = QUALIFIED.exec(textOf(criteria, 'expression') ?? '')?.[1]
    if (name === undefined || names.has(name)) continue
    run.findings.report(MEASURE_CRITERIA, criteria, {
      text: `The criteria refer to the library ${quoted(name)}, which is not a library of the measure.`,
    })
  }
}

function criteriaIn(run: Run, node: FhirNode): readonly FhirNode[] {
  return childrenOf(run, node, 'group').flatMap((group) =>
    ['population', 'stratifier'].flatMap((name) => childrenOf(run, group, name).flatMap((part) => childrenOf(run, part, 'criteria'))),
  )
}
