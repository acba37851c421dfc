import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { objectsAt, type JsonObject } from '../../../json/index.js'
import { childrenOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { extensionValues } from '../../profile/extension-value.js'

const TOOLS = 'http://hl7.org/fhir/tools/StructureDefinition/'

/** Parameters of `$expand` and `$validate-code`, which every value set has. */
const STANDARD: ReadonlySet<unknown> = new Set(
  (
    'abstract activeOnly check-system-version check-valueset-version context contextDirection count date default-valueset-version designation ' +
    'displayLanguage exclude-system excludeNested excludeNotForUI excludePostCoordinated filter filterProperty force-system-version ' +
    'force-valueset-version includeDefinition includeDesignations inferSystem lenient-display-validation manifest offset property system-version ' +
    'useSupplement valueset-membership-only'
  ).split(' '),
)

/** Checks that an item gives the parameters that the value set of its answers declares, and no others. */
export function checkBindingParameters(run: Run, item: FhirNode): void {
  const [valueSet] = childrenOf(run, item, 'answerValueSet')
  const definition = typeof valueSet?.value === 'string' ? run.facts.definition('ValueSet', valueSet.value) : undefined
  if (definition === undefined || definition === PENDING) return
  const declared = namesOn(definition, 'valueset-parameter')
  if (declared.length === 0) return
  const given = namesOn(valueSet?.extra, 'binding-parameter')
  const say = (text: string, severity: 'error' | 'warning'): void => run.sink.report('questionnaire-parameter', item, { text, severity })
  for (const name of declared.filter((one) => !given.includes(one))) say(`The value set needs the parameter ${quoted(name)}.`, 'error')
  for (const name of given.filter((one) => !declared.includes(one) && !STANDARD.has(one)))
    say(`${quoted(name)} is neither a parameter of the value set nor one that all have.`, 'warning')
}

function namesOn(holder: JsonObject | undefined, name: string): readonly string[] {
  const extensions = objectsAt(holder, 'extension').filter(({ url }) => url === TOOLS + name)
  return extensions.flatMap((extension) => {
    const value = extensionValues(extension, 'name')[0]
    return typeof value === 'string' ? [value] : []
  })
}
