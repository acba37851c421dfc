import type { Action } from '../auth/scopes.js'

/** What a caller of an operation must be allowed to do (SC-03): one of these, or nothing when there are none. */
export interface OperationNeeds {
  /** In words, for the documentation. */
  readonly text: string
  /** Without a type, the type of the path. */
  readonly anyOf: readonly { readonly action: Action; readonly type?: string }[]
  /** It stores what belongs to no caller in particular, where rights to a part of what is stored do not reach. */
  readonly keepsState?: boolean
}

const TERMINOLOGY: OperationNeeds = {
  text: 'ValueSet.r or CodeSystem.r',
  anyOf: [
    { action: 'read', type: 'ValueSet' },
    { action: 'read', type: 'CodeSystem' },
  ],
}

const ANYBODY: OperationNeeds = { text: 'a token', anyOf: [] }

const NEEDS: ReadonlyMap<string, OperationNeeds> = new Map<string, OperationNeeds>([
  ['$translate', { text: 'ConceptMap.r', anyOf: [{ action: 'read', type: 'ConceptMap' }] }],
  ['$expand', TERMINOLOGY],
  ['$lookup', TERMINOLOGY],
  ['$validate-code', TERMINOLOGY],
  ['$batch-validate-code', TERMINOLOGY],
  ['$subsumes', TERMINOLOGY],
  ['$closure', { ...TERMINOLOGY, keepsState: true }],
  ['$compare', TERMINOLOGY],
  ['$versions', ANYBODY],
  ['$evaluate-measure', { text: 'Measure.r, and .s on every type of the criteria', anyOf: [{ action: 'read', type: 'Measure' }] }],
  [
    '$validate',
    {
      text: 'any right on the type, and r for the modes update and delete',
      anyOf: (['read', 'search', 'create', 'update', 'delete'] as const).map((action) => ({ action })),
    },
  ],
])

/** For an operation of the host's own: reading its type. */
const OTHERS: OperationNeeds = { text: 'r on the type', anyOf: [{ action: 'read' }] }

/** What callers of the operation need. */
export function needsOf(name: string): OperationNeeds {
  return NEEDS.get(name) ?? OTHERS
}
