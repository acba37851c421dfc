import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import type { TranslateDependency } from './translation.js'

/** True when every `dependsOn` of the target is met by the dependencies that came with the request. */
export function dependenciesMet(target: JsonObject, dependencies: readonly TranslateDependency[]): boolean {
  return objectsAt(target, 'dependsOn').every((condition) => dependencies.some((dependency) => meets(dependency, condition)))
}

function meets({ element, concept }: TranslateDependency, condition: JsonObject): boolean {
  if (element !== stringAt(condition, 'property')) return false
  const system = stringAt(condition, 'system')
  const value = stringAt(condition, 'value')
  if (value === undefined) return false
  if (system === undefined && concept.text === value) return true
  return (concept.coding ?? []).some((coding) => coding.code === value && (system === undefined || coding.system === system))
}
