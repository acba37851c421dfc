import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  declaration: true,
  emitDeclarationOnly: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts', 'lib.esnext.disposable.d.ts'],
  types: [],
}

/**
 * What the compiler says of a module that exports everything that entries have, without writing down a type: each value, and each property of
 * each type. With `declaration` it must be able to name their types.
 */
export function unnamedParts(dir: string, entries: readonly string[]): readonly string[] {
  const file = join(dir, 'exported-parts.ts')
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}'`)
  writeFileSync(file, `${imports.join('\n')}\nexport {}\n`)
  const program = ts.createProgram([file], OPTIONS)
  const checker = program.getTypeChecker()
  const lines = [...(program.getSourceFile(file)?.statements ?? [])]
    .filter((statement) => ts.isImportDeclaration(statement))
    .flatMap(({ moduleSpecifier }, index) => {
      const module = checker.getSymbolAtLocation(moduleSpecifier)
      return module === undefined ? [] : checker.getExportsOfModule(module).flatMap((symbol) => partsOf(checker, symbol, `entry${index}`))
    })
  if (lines.length < entries.length) throw new Error('The entries export nothing.')
  writeFileSync(file, [...imports, ...lines.map((line, index) => `export const part${index} = ${line}`)].join('\n'))
  const exporting = ts.createProgram([file], OPTIONS)
  const source = exporting.getSourceFile(file)
  const said = [...exporting.getSemanticDiagnostics(source), ...exporting.getDeclarationDiagnostics(source)]
  return said.map(({ start = 0, messageText }) => {
    const line = source?.text.slice(0, start).split('\n').length ?? 0
    return `${source?.text.split('\n')[line - 1]}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

/** An expression for a value, and for each property of a type. */
function partsOf(checker: ts.TypeChecker, symbol: ts.Symbol, entry: string): readonly string[] {
  const target = (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
  const isGeneric = target.declarations?.some(
    (one) => (ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one)) && one.typeParameters,
  )
  const properties =
    (target.flags & ts.SymbolFlags.Type) === 0 || isGeneric ? [] : checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(target))
  return [
    ...((target.flags & ts.SymbolFlags.Value) === 0 ? [] : [`${entry}.${symbol.name}`]),
    ...properties.flatMap(({ name }) => (/^[a-z]\w*$/i.test(name) ? [`(of: ${entry}.${symbol.name}) => of.${name}`] : [])),
  ]
}
