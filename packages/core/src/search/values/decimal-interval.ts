import type { Interval } from './interval.js'

/** A number as it was written in a search. */
export interface WrittenNumber {
  readonly value: number
  /** The numbers that are written so when rounded: from `low` up to, but without, `high`. */
  readonly rounded: Interval
}

/** Reads a FHIR decimal; `undefined` when it is none. `5.40` stands for 5.395 up to 5.405, `1e2` for 50 up to 150. */
export function writtenNumber(text: string): WrittenNumber | undefined {
  const parts = /^[+-]?\d{1,40}(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text)
  const value = Number(text)
  if (parts === null || !Number.isFinite(value)) return undefined
  const [, decimals = '', exponent = '0'] = parts
  const half = 0.5 * 10 ** (Number(exponent) - decimals.length)
  return { value, rounded: { low: withoutNoise(value - half), high: withoutNoise(value + half) } }
}

/** 5.4 - 0.05 is 5.3500000000000005 in binary; 15 digits are exact. */
function withoutNoise(value: number): number {
  return Number(value.toPrecision(15))
}
