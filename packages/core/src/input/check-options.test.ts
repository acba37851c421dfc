import { describe, expect, test } from 'vitest'
import { AMOUNT, checkOptions, CLOCK, FUNCTION, having, inputShape, needed, optionsOf, SPREAD_THE_RESULT, TEXT } from './index.js'

interface Inner {
  readonly most?: number
}

interface Options {
  readonly store: object
  readonly name?: string
  readonly inner?: Inner
  readonly now?: () => Date
  readonly onEnd?: () => void
}

const SHAPE = inputShape<Options>({
  store: needed(having('a store', ['read'])),
  name: TEXT,
  inner: optionsOf(inputShape<Inner>({ most: AMOUNT })),
  now: CLOCK,
  onEnd: FUNCTION,
})

const store = { read: () => undefined }

describe('options of a factory', () => {
  test.each<[string, unknown]>([
    ['that are required', { store }],
    ['that are all there', { store, name: 'x', inner: { most: Infinity }, now: () => new Date(0), onEnd: () => undefined }],
    ['that are undefined', { store, name: undefined, misspelt: undefined }],
    [
      'of a class',
      {
        store: new (class {
          read() {}
        })(),
      },
    ],
  ])('%s are accepted', (_, given) => {
    expect(() => checkOptions('make', SHAPE, given)).not.toThrow()
  })

  test.each<[string, unknown, string]>([
    ['that are missing', undefined, 'make: the options are missing.'],
    ['that are a list', [], 'make: the options must be an object.'],
    ['without what is required', { name: 'x' }, 'make: the option store is missing.'],
    ['with a misspelt name', { store, nmae: 'x' }, "make: there is no option 'nmae'. Did you mean 'name'?"],
    ['with a name like no other', { store, colour: 'red' }, "make: there is no option 'colour'. There are store, name, inner, now, onEnd."],
    ['with a misspelt name inside', { store, inner: { mots: 1 } }, "make: there is no option 'inner.mots'. Did you mean 'most'?"],
    ['with a wrong type', { store, name: 1 }, 'make: name must be a text.'],
    ['with a wrong type inside', { store, inner: { most: '1' } }, 'make: inner.most must be a number, 0 or more.'],
    ['with something else', { store: {} }, 'make: store must be a store (an object with read).'],
    ['with a promise', { store: Promise.resolve(store) }, 'make: store is a promise that was not awaited.'],
    ['with a clock of numbers', { store, now: () => 5 }, 'make: now must be a function that returns a Date.'],
    ['with a clock that has stopped', { store, now: () => new Date('x') }, 'make: now must be a function that returns a Date.'],
    [
      'with options as an option',
      { store, more: { name: 'x' } },
      "make: there is no option 'more'. Its members are options: spread it, { ...more }.",
    ],
  ])('%s are refused by name', (_, given, message) => {
    expect(() => checkOptions('make', SHAPE, given)).toThrow(new TypeError(message))
  })

  test('into which a function was spread instead of its result are refused by its name', () => {
    const release = Object.assign(() => ({ name: 'x' }), { [SPREAD_THE_RESULT]: 'release was not called. Use { ...release() }.' })
    expect(() => checkOptions('make', SHAPE, Object.assign({ store }, release))).toThrow(
      'make: release was not called. Use { ...release() }.',
    )
  })
})
