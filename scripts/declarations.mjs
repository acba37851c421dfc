// Types of a package: one `.d.ts` for each entry, with everything that it publishes. Sources declare what they export, so no program is needed
// to infer it (`isolatedDeclarations`).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { bundledDeclarations } from './bundled-declarations.mjs'
import { root } from './packages.mjs'

const OPTIONS = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => ts.sys.readFile(path)).config,
  ts.sys,
  root,
).options

/**
 * Writes the declarations of the entries below `dist`, where their modules are built.
 *
 * @param entries `[subpath, file]` of each, the file below `src`.
 */
export function writeDeclarations(packageDir, entries) {
  const src = join(packageDir, 'src')
  const modules = declaredModules(entries.map(([, file]) => resolve(packageDir, file)))
  const files = entries.map(([subpath, file]) => ({
    file: resolve(packageDir, file),
    isRoot: subpath === '.',
    isInternal: subpath.startsWith('./internal/'),
  }))
  for (const [file, text] of bundledDeclarations(modules, files, join(src, 'shared.ts'))) {
    const target = join(packageDir, 'dist', relative(src, file).replace(/\.ts$/, '.d.ts'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
}

/** The declarations of modules, and of those that they name, by file. */
function declaredModules(entries) {
  const modules = new Map(entries.map((file) => [file, '']))
  for (const file of modules.keys()) {
    const text = declarationOf(file)
    modules.set(file, text)
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      const other = fileName.startsWith('.') ? resolve(dirname(file), fileName.replace(/\.js$/, '.ts')) : undefined
      if (other !== undefined && !modules.has(other)) modules.set(other, '')
    }
  }
  return modules
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
