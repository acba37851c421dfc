/** The part of `UcumLhcUtils` of `@lhncbc/ucum-lhc` that is called: `UcumLhcUtils.getInstance()` fits. */
export interface UcumLibrary {
  validateUnitString(code: string): {
    readonly status: string
    readonly ucumCode: string | null
    readonly unit?: { readonly code?: unknown; readonly name?: unknown } | null
  }
  convertToBaseUnits(code: string, amount: number): { readonly status: string; readonly unitToExp?: Readonly<Record<string, number>> }
  convertUnitTo(from: string, amount: number, to: string): { readonly status: string; readonly toVal: number | null }
}
