declare module '@lhncbc/ucum-lhc' {
  interface UcumLhcUtils {
    validateUnitString(code: string): {
      readonly status: string
      readonly ucumCode: string | null
      readonly unit?: { readonly code?: unknown; readonly name?: unknown } | null
    }
    getSpecifiedUnit(
      code: string,
      purpose: 'validate',
    ): { readonly unit?: { readonly isMetric_?: unknown; readonly isBase_?: unknown } | null }
    convertToBaseUnits(code: string, amount: number): { readonly status: string; readonly unitToExp?: Readonly<Record<string, number>> }
    convertUnitTo(from: string, amount: number, to: string): { readonly status: string; readonly toVal: number | null }
  }
  const library: { readonly UcumLhcUtils: { getInstance(): UcumLhcUtils } }
  export default library
}
