import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import type { TranslateDependency } from './translation.js'

/** What is known of other elements, each fact as one text, so that a condition is looked up and not searched for. */
export type Facts = ReadonlySet<string>

/** The facts that dependencies state: every coding with and without its system, and the text. */
export function factsOf(dependencies: readonly TranslateDependency[]): Facts {
  return new Set(
    dependencies.flatMap(({ element, concept }) => [
      ...(concept.text === undefined ? [] : [fact(element, undefined, concept.text)]),
      ...(concept.coding ?? []).flatMap(({ system, code }) =>
        code === undefined ? [] : [fact(element, system, code), fact(element, undefined, code)],
      ),
    ]),
  )
}

/** True when every `dependsOn` of the target is among the facts. */
export function dependenciesMet(target: JsonObject, facts: Facts): boolean {
  return objectsAt(target, 'dependsOn').every((condition) => {
    const property = stringAt(condition, 'property')
    const value = stringAt(condition, 'value')
    return property !== undefined && value !== undefined && facts.has(fact(property, stringAt(condition, 'system'), value))
  })
}

function fact(element: string, system: string | undefined, value: string): string {
  return JSON.stringify([element, system, value])
}
