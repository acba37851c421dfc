// Types of a package: one `.d.ts` for each module that its entries reach, as they are written. Sources declare what they export, so no program
// is needed to infer it (`isolatedDeclarations`).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { root } from './packages.mjs'

const OPTIONS = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => ts.sys.readFile(path)).config,
  ts.sys,
  root,
).options

/** Writes the declarations of the entries, and of the modules that they name, below `dist` as the sources lie below `src`. */
export function writeDeclarations(packageDir, entries) {
  const waiting = entries.map((file) => resolve(packageDir, file))
  const seen = new Set(waiting)
  for (const file of waiting) {
    const text = declarationOf(file)
    const target = join(packageDir, 'dist', relative(join(packageDir, 'src'), file).replace(/\.ts$/, '.d.ts'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (!fileName.startsWith('.')) continue
      const other = resolve(dirname(file), fileName.replace(/\.js$/, '.ts'))
      if (!seen.has(other)) waiting.push(other)
      seen.add(other)
    }
  }
}

function declarationOf(file) {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
    fileName: file,
    compilerOptions: OPTIONS,
    reportDiagnostics: true,
  })
  if (diagnostics.length === 0) return outputText
  throw new Error(
    ts.formatDiagnostics(diagnostics, { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => '\n' }),
  )
}
