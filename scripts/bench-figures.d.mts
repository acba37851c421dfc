/** One figure of a bench. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly better: 'less' | 'more'
  readonly isRatio: boolean
}

export interface ComparedFigure {
  readonly name: string
  readonly before: number
  readonly now: number
  readonly middle: number
  readonly least: number
  readonly most: number
  readonly verdict: 'worse' | 'same' | 'better'
}

export declare function figuresIn(text: string): readonly Figure[]

export declare function comparison(
  pairs: readonly { readonly before: string; readonly now: string; readonly speed: number }[],
): readonly ComparedFigure[]

export declare function speedBetween(before: string, now: string): number
