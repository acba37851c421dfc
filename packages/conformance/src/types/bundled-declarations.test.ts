import { expect, test } from 'vitest'
import { bundledDeclarations } from '../../../../scripts/bundled-declarations.mjs'

/** The files of entries (`public` in folders, `index` for our own packages, the root's), without empty lines. */
function bundled(modules: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const files = Object.keys(modules).map((name) => `/p/${name}.ts`)
  const entries = files
    .filter((file) => /(public|index)\.ts$/.test(file))
    .map((file) => ({ file, isRoot: file === '/p/index.ts', isInternal: file !== '/p/index.ts' && file.endsWith('index.ts') }))
  const texts = new Map(Object.entries(modules).map(([name, text]) => [`/p/${name}.ts`, text]))
  return Object.fromEntries(
    bundledDeclarations(texts, entries, '/p/shared.ts').map(([file, text]) => [file.slice(3, -3), text.trim().replaceAll(/\n+/g, '\n')]),
  )
}

test('what an entry publishes is in its file, with its comment and what it names', () => {
  const files = bundled({
    'a/public': `export { run } from './run.js'`,
    'a/run': `import type { Part } from './part.js'\n/** Runs. */\nexport declare function run(part: Part): void\nexport declare function unused(): void`,
    'a/part': `/** A part. */\nexport interface Part { readonly name: string }`,
  })
  expect(files).toEqual({
    'a/public': [
      '/** Runs. */',
      'export declare function run(part: Part): void',
      '/** A part. */',
      'interface Part { readonly name: string }',
      'export {};',
    ].join('\n'),
  })
})

test('what several entries name is in the file of the one that publishes it, and the main entry passes it on', () => {
  const files = bundled({
    index: `export { a } from './a/public.js'\nexport type { B } from './b/public.js'`,
    'a/public': `export { a } from './a.js'`,
    'a/a': `import type { B } from '../b/public.js'\nexport declare const a: B`,
    'b/public': `export type { B } from './b.js'`,
    'b/b': `export interface B { readonly b: B }`,
  })
  expect(files['index']).toBe(`export { a } from './a/public.js';\nexport { type B } from './b/public.js';`)
  expect(files['a/public']).toBe(`import type { B } from '../b/public.js';\nexport declare const a: B`)
  expect(files['b/public']).toBe(`export interface B { readonly b: B }`)
})

test('what no entry publishes and several name is exported where our own packages find it, or from a shared file', () => {
  const modules = {
    'a/public': `export { a } from './a.js'`,
    'a/a': `import type { C } from '../c/c.js'\nexport declare const a: C`,
    'b/public': `export { b } from './b.js'`,
    'b/b': `import type { C as D } from '../c/c.js'\nexport declare const b: D`,
    'c/c': `export interface C {}`,
  }
  expect(bundled(modules)).toMatchObject({
    'b/public': `import type { C } from '../shared.js';\nexport declare const b: C`,
    shared: 'export interface C {}',
  })
  const own = bundled({ ...modules, 'c/index': `export { other } from './other.js'`, 'c/other': `export declare const other: 1` })
  expect(own).toMatchObject({
    'a/public': `import type { C } from '../c/index.js';\nexport declare const a: C`,
    'c/index': 'export declare const other: 1\nexport interface C {}',
  })
  expect(own).not.toHaveProperty('shared')
})

test('equal names of different modules, other packages and globals stay apart; type parameters stay as they are', () => {
  const files = bundled({
    'a/public': `export { one } from './one.js'\nexport { two } from './two.js'\nexport type { Three } from './three.js'`,
    'a/one': `interface Part { readonly one: 1 }\nexport declare function one(part: Part): Date`,
    'a/two': `import type { Part } from 'other/parts.js'\nexport declare function two<Map>(part: Part, map: Map): typeof part`,
    'a/three': `interface Date {}\nexport interface Three { readonly date: Date; readonly map: Map<string, Part> }\ntype Part<One = 1> = One extends infer Two ? Two : never`,
  })
  expect(files['a/public']?.split('\n')).toEqual([
    `import type { Part as PartsPart } from 'other/parts.js';`,
    'export declare function one(part: Part): Date',
    'interface Part { readonly one: 1 }',
    'export declare function two<Map>(part: PartsPart, map: Map): typeof part',
    'export interface Three { readonly date: ThreeDate; readonly map: Map<string, ThreePart> }',
    'interface ThreeDate {}',
    'type ThreePart<One = 1> = One extends infer Two ? Two : never',
    'export {};',
  ])
})

test('what an entry says about modules of others stays; what cannot be joined is refused', () => {
  const files = bundled({
    'a/public': `import type { Own } from './own.js'\ndeclare module 'expect' { interface Matchers extends Own {} }`,
    'a/own': `export interface Own {}`,
  })
  expect(files['a/public']).toBe(`interface Own {}\ndeclare module 'expect' { interface Matchers extends Own {} }\nexport {};`)
  expect(() => bundled({ 'a/public': `export * from './own.js'`, 'a/own': '' })).toThrow('declarations are not joined')
  expect(() => bundled({ 'a/public': `export { x } from './own.js'`, 'a/own': '' })).toThrow('does not export x')
})
