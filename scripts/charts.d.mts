/** A chart of a table of the documentation. */
export interface Chart {
  readonly page: string
  readonly table: string
  readonly columns: readonly string[]
  readonly title: string
  readonly without?: readonly string[]
  readonly file?: string
}

export declare const CHARTS: readonly Chart[]

export declare function chartOf(chart: Chart, text?: string): string
