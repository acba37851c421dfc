import type { FhirNode } from '../../../fhirpath/index.js'
import { quoted } from '../../../errors/index.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'
import type { Shape } from './shapes.js'

/** A name that cannot be written in the mapping language, or that occurs twice. */
export const MAP_NAME: FindingDefinition = defineFinding(
  'structure-map-name',
  'error',
  'invalid',
  'Begin names with a letter, continue with letters and digits, and use each once.',
)

/** A variable that is not defined where it is used. */
export const MAP_VARIABLE: FindingDefinition = defineFinding(
  'structure-map-variable',
  'error',
  'unknown',
  'Name an input of the group, or a variable of this rule or of one around it.',
)

/** Whether a variable is read from, or written to. */
export type Mode = 'source' | 'target'

/** A variable of a group or of a rule. */
export interface Variable {
  readonly name: string
  readonly mode: Mode
  /** `undefined` when its type is not known; then its elements are not checked. */
  readonly shape: Shape | undefined
  /** How often it can occur for one value of each of the group's inputs. */
  readonly max: number
}

/** The variables that are known at a place. A source and a target may have the same name. */
export interface Scope {
  readonly all: () => readonly Variable[]
  readonly find: (name: string, mode: Mode) => Variable | undefined
  readonly add: (variable: Variable) => void
  /** A scope for nested rules; variables that are added there are not known here. */
  readonly inner: () => Scope
}

/** Creates a scope with some variables. */
export function scopeOf(variables: readonly Variable[]): Scope {
  const known = new Map(variables.map((one) => [`${one.mode} ${one.name}`, one]))
  return {
    all: () => [...known.values()],
    find: (name, mode) => known.get(`${mode} ${name}`),
    add: (variable) => void known.set(`${variable.mode} ${variable.name}`, variable),
    inner: () => scopeOf([...known.values()]),
  }
}

/** Whether a name can be written in the mapping language; reports one that cannot. */
export function hasGoodName(run: Run, node: FhirNode, name: string, code: Finding['code'] = 'invalid'): boolean {
  if (/^[a-zA-Z][a-zA-Z0-9]*$/.test(name)) return true
  run.findings.report(MAP_NAME, node, {
    text: `${quoted(name)} is not a name: it must be letters and digits, of which the first is a letter.`,
    code,
  })
  return false
}
