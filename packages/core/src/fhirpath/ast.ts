/** Operators between two expressions, by their spelling. */
export type BinaryOperator =
  | '*'
  | '/'
  | 'div'
  | 'mod'
  | '+'
  | '-'
  | '&'
  | '|'
  | '<'
  | '<='
  | '>'
  | '>='
  | '='
  | '!='
  | '~'
  | '!~'
  | 'in'
  | 'contains'
  | 'and'
  | 'or'
  | 'xor'
  | 'implies'

/** A name as written: `Patient`, `FHIR.Patient`, `System.String`. */
export interface TypeSpecifier {
  readonly namespace?: string
  readonly name: string
}

/** A literal before it is read as a value; `text` is without quotes and without the leading `@`. */
export type Literal =
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'string' | 'integer' | 'decimal' | 'date' | 'dateTime' | 'time'; readonly text: string }
  | { readonly type: 'quantity'; readonly text: string; readonly unit: string }

/** A parsed expression. `at` is the offset in the source where the node begins; a step without `target` starts from `$this`. */
export type Ast =
  | { readonly kind: 'empty'; readonly at: number }
  | { readonly kind: 'literal'; readonly at: number; readonly literal: Literal }
  | { readonly kind: 'variable'; readonly at: number; readonly name: string }
  | { readonly kind: 'this' | 'index' | 'total'; readonly at: number }
  | { readonly kind: 'member'; readonly at: number; readonly target?: Ast; readonly name: string }
  | { readonly kind: 'call'; readonly at: number; readonly target?: Ast; readonly name: string; readonly args: readonly Ast[] }
  | { readonly kind: 'item'; readonly at: number; readonly target: Ast; readonly position: Ast }
  | { readonly kind: 'sign'; readonly at: number; readonly sign: '+' | '-'; readonly operand: Ast }
  | { readonly kind: 'binary'; readonly at: number; readonly operator: BinaryOperator; readonly left: Ast; readonly right: Ast }
  | { readonly kind: 'type'; readonly at: number; readonly operator: 'is' | 'as'; readonly operand: Ast; readonly type: TypeSpecifier }
