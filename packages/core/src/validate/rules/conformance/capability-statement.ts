import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, shownJson } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { ResourceRule, Run } from '../../run/run.js'

const CAPABILITY_SEARCH: FindingDefinition = defineFinding(
  'capability-search',
  'error',
  'invalid',
  'State the type that the definition of the search parameter has.',
)

const CAPABILITY_RESOURCE: FindingDefinition = defineFinding(
  'capability-resource',
  'warning',
  'business-rule',
  'Name profiles on the type of the resource, and each interaction once.',
)

/** CapabilityStatements. */
export const capabilityRule: ResourceRule = {
  on: ['CapabilityStatement'],
  finds: [CAPABILITY_SEARCH, CAPABILITY_RESOURCE],
  check: checkCapabilities,
}

/** Checks a CapabilityStatement against the definitions that it names: the types of search parameters and profiles. */
async function checkCapabilities(run: Run, node: FhirNode): Promise<void> {
  for (const rest of childrenOf(run, node, 'rest')) {
    for (const resource of childrenOf(run, rest, 'resource')) {
      await checkParameters(run, resource)
      checkProfiles(run, resource)
      checkInteractions(run, resource)
    }
    await checkParameters(run, rest)
    checkInteractions(run, rest)
  }
}

async function checkParameters(run: Run, holder: FhirNode): Promise<void> {
  for (const parameter of childrenOf(run, holder, 'searchParam')) {
    checkCapability(run, parameter)
    await run.scheduler.turn()
  }
}

function checkCapability(run: Run, parameter: FhirNode): void {
  const canonical = textOf(parameter, 'definition')
  const type = textOf(parameter, 'type')
  const definition = canonical === undefined ? undefined : run.definitions.definition('SearchParameter', canonical)
  if (!isObject(definition) || type === undefined || definition['type'] === type) return
  run.findings.report(CAPABILITY_SEARCH, parameter, {
    text: `The type is ${quoted(type)}, but the definition of the search parameter has the type ${quoted(shownJson(definition['type']))}.`,
  })
}

/** Checks that the profiles for a type are profiles on it. */
function checkProfiles(run: Run, resource: FhirNode): void {
  const type = textOf(resource, 'type')
  for (const one of [...childrenOf(run, resource, 'profile'), ...childrenOf(run, resource, 'supportedProfile')]) {
    const profile = typeof one.value === 'string' ? run.definitions.profile(one.value) : undefined
    if (profile === undefined || profile === PENDING || profile.type === type) continue
    run.findings.report(CAPABILITY_RESOURCE, one, {
      text: `The profile ${quoted(profile.url)} is a profile on ${profile.type}, not on ${type ?? 'a type that is stated'}.`,
    })
  }
}

function checkInteractions(run: Run, holder: FhirNode): void {
  const seen = new Set<string>()
  for (const interaction of childrenOf(run, holder, 'interaction')) {
    const code = textOf(interaction, 'code')
    if (code === undefined) continue
    if (seen.has(code)) run.findings.report(CAPABILITY_RESOURCE, interaction, { text: `Duplicate interaction ${quoted(code)}.` })
    seen.add(code)
  }
}
