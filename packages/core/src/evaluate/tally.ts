/** What belongs to a population. */
export interface Tally {
  readonly count: number
  /** References (`Patient/p1`) to what belongs to it, where they were asked for. */
  readonly members?: readonly string[]
}
