import { quoted } from '../../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { Run } from '../../../walk/run.js'
import type { ElementCheck } from './check-elements.js'

/** Checks that the profiles that an element's types name are known, and that those on the type itself are for that type. */
export function checkTypeProfiles({ run, node, path }: ElementCheck): void {
  for (const type of childrenOf(run, node, 'type')) {
    for (const profile of childrenOf(run, type, 'profile')) {
      checkProfile(run, profile, textOf(type, 'code'))
      checkModifier(run, profile, path)
    }
    for (const target of childrenOf(run, type, 'targetProfile')) checkProfile(run, target)
  }
}

/** @param code The type that the profile must be for, if it must. */
function checkProfile(run: Run, profile: FhirNode, code?: string): void {
  if (typeof profile.value !== 'string' || profile.value.startsWith('#')) return
  const found = run.facts.definition('StructureDefinition', profile.value)
  if (found === undefined) {
    run.sink.report('definition-type-profile', profile, { text: `The profile ${quoted(profile.value)} is not known here.` })
  } else if (found !== PENDING && !isFor(run, found['type'], code)) {
    run.sink.report('definition-type-profile', profile, {
      text: `The profile ${quoted(profile.value)} is not for the type ${quoted(code ?? '')}, but for ${quoted(String(found['type']))}.`,
      severity: 'error',
    })
  }
}

/** What modifies stands in `modifierExtension`, and nothing else does. */
function checkModifier(run: Run, profile: FhirNode, path: string): void {
  const found = typeof profile.value === 'string' ? run.facts.profile(profile.value) : undefined
  if (found === undefined || found === PENDING || found.extension === undefined) return
  if (found.extension.isModifier === path.endsWith('.modifierExtension')) return
  run.sink.report('definition-type-profile', profile, {
    text: `${quoted(found.url)} is ${found.extension.isModifier ? 'a' : 'no'} modifier extension, so it cannot be in ${quoted(path)}.`,
    severity: 'error',
  })
}

/** A profile may be for a type that derives from the element's, or for one from which that derives. */
function isFor({ model }: Run, type: unknown, code: string | undefined): boolean {
  if (typeof type !== 'string' || code === undefined) return true
  return derivesFrom(type, code) || derivesFrom(code, type)

  function derivesFrom(name: string, from: string): boolean {
    for (
      let current = model.type(name);
      current !== undefined;
      current = current.base === undefined ? undefined : model.type(current.base)
    ) {
      if (current.name === from) return true
    }
    return model.type(name) === undefined
  }
}
