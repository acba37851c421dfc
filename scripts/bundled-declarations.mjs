// Joins the declarations of modules to one file for each entry: a person who follows a name finds it with all that belongs to it.
//
// Each declaration is in one file: that of the entry that publishes it. What no entry publishes is beside what uses it, or in a file that several
// entries share. Only what an entry reaches is written.
import { basename, dirname, relative, resolve } from 'node:path'
import ts from 'typescript'

/**
 * @param modules The text of the declarations of each module, by file.
 * @param entries Modules whose exports are published: `file`, `isRoot`, and `isInternal` for what only our own packages use.
 * @param shared The module in whose place goes what several entries use and none publishes.
 * @returns `[file, text]` for each entry, and for `shared` where it is needed.
 */
export function bundledDeclarations(modules, entries, shared) {
  const parsed = new Map([...modules].map(([file, text]) => [file, parsedModule(file, text)]))
  const published = entries.map((entry) => ({ ...entry, names: exportsOf(parsed, entry.file) }))
  const homes = homesOf(parsed, published, shared)
  const files = [...published.map(({ file, names }) => ({ file, names })), { file: shared, names: new Map() }]
  const contents = new Map(files.map(({ file, names }) => [file, contentOf(parsed, homes, { file, names })]))
  // What other files take must be exported, too.
  for (const { imports } of contents.values())
    for (const symbol of imports.values()) if (symbol.module !== undefined) contents.get(homes.get(symbol)).taken.add(symbol)
  return files
    .filter(({ file, names }) => names.size > 0 || contents.get(file).symbols.length > 0 || parsed.get(file)?.ambient.length > 0)
    .map(({ file }) => [file, textOf(contents, homes, file)])
}

/** What a module declares, imports and exports, by name. */
function parsedModule(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const module = { file, source, declared: new Map(), imported: new Map(), exported: new Map(), ambient: [] }
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) readImport(module, statement)
    else if (ts.isExportDeclaration(statement)) readExport(module, statement)
    else if (ts.isModuleDeclaration(statement) && ts.isStringLiteral(statement.name)) module.ambient.push(statement)
    else readDeclaration(module, statement)
  }
  return module
}

function readImport(module, { importClause, moduleSpecifier }) {
  const bindings = importClause?.namedBindings
  if (importClause?.name !== undefined || bindings === undefined || ts.isNamespaceImport(bindings)) throw unexpected(moduleSpecifier)
  for (const { name, propertyName } of bindings.elements)
    module.imported.set(name.text, { from: target(module, moduleSpecifier), name: (propertyName ?? name).text })
}

function readExport(module, { exportClause, moduleSpecifier, parent }) {
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) throw unexpected(moduleSpecifier ?? parent)
  for (const { name, propertyName } of exportClause.elements) {
    const local = (propertyName ?? name).text
    module.exported.set(name.text, moduleSpecifier === undefined ? local : { from: target(module, moduleSpecifier), name: local })
  }
}

function readDeclaration(module, statement) {
  for (const name of namesOf(statement)) {
    const symbol = module.declared.get(name) ?? { module, name, statements: [], isValue: false }
    symbol.statements.push(statement)
    symbol.isValue ||= !ts.isInterfaceDeclaration(statement) && !ts.isTypeAliasDeclaration(statement)
    module.declared.set(name, symbol)
    if (statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) module.exported.set(name, name)
  }
}

function namesOf(statement) {
  if (ts.isVariableStatement(statement)) {
    const [{ name }, ...more] = statement.declarationList.declarations
    if (more.length > 0 || !ts.isIdentifier(name)) throw unexpected(statement)
    return [name.text]
  }
  const isNamed = [ts.isInterfaceDeclaration, ts.isTypeAliasDeclaration, ts.isFunctionDeclaration, ts.isClassDeclaration].some((is) =>
    is(statement),
  )
  if (!isNamed || statement.name === undefined) throw unexpected(statement)
  return [statement.name.text]
}

function unexpected(node) {
  return new Error(`${node.getSourceFile().fileName}: declarations are not joined from: ${node.getText()}`)
}

/** A module of the package by file, another one by its specifier. */
function target(module, { text }) {
  return text.startsWith('.') ? resolve(dirname(module.file), text.replace(/\.js$/, '.ts')) : text
}

/** The symbol that a name of a module stands for: a declaration, or an export of another package; `undefined` for what is global. */
function symbolAt(parsed, module, name) {
  const own = module.declared.get(name)
  const imported = module.imported.get(name)
  return own ?? (imported === undefined ? undefined : linked(parsed, imported))
}

const OUTSIDE = new Map()

function linked(parsed, { from, name }) {
  const module = parsed.get(from)
  if (module === undefined) {
    const key = `${from} ${name}`
    if (!OUTSIDE.has(key)) OUTSIDE.set(key, { from, name })
    return OUTSIDE.get(key)
  }
  const exported = module.exported.get(name)
  const symbol =
    typeof exported === 'string' ? symbolAt(parsed, module, exported) : exported === undefined ? undefined : linked(parsed, exported)
  if (symbol === undefined) throw new Error(`${from} does not export ${name}`)
  return symbol
}

/** What a module exports: the symbol of each name. */
function exportsOf(parsed, file) {
  return new Map([...parsed.get(file).exported.keys()].map((name) => [name, linked(parsed, { from: file, name })]))
}

/** The file of each symbol that is reached. */
function homesOf(parsed, published, shared) {
  const homes = new Map()
  const rank = (entry, symbol) => [entry.isInternal ? 1 : 0, isBelow(entry, symbol) && !entry.isRoot ? 0 : 1, entry.isRoot ? 1 : 0]
  for (const entry of published)
    for (const symbol of entry.names.values()) {
      if (symbol.module === undefined || homes.has(symbol)) continue
      const best = published
        .filter(({ names }) => [...names.values()].includes(symbol))
        .toSorted((a, b) => rank(a, symbol).join('') - rank(b, symbol).join(''))[0]
      homes.set(symbol, best.file)
    }
  // The rest belongs to what uses it: to one file, or to that of its folder that is for our own packages, or to the shared one.
  const users = new Map()
  const follow = (symbol, file) => {
    if (symbol.module === undefined || users.get(symbol)?.has(file)) return
    users.set(symbol, (users.get(symbol) ?? new Set()).add(file))
    followUsed(symbol.module, symbol.statements, file)
  }
  const followUsed = (module, statements, file) => {
    for (const statement of statements) for (const used of usedBy(parsed, module, statement)) if (!homes.has(used)) follow(used, file)
  }
  for (const [symbol, file] of homes) followUsed(symbol.module, symbol.statements, file)
  for (const { file } of published) followUsed(parsed.get(file), parsed.get(file).ambient, file)
  const internal = published.filter(({ isInternal }) => isInternal)
  for (const [symbol, files] of users) {
    const [only, ...more] = files
    const own = internal.find((entry) => isBelow(entry, symbol))
    homes.set(symbol, more.length === 0 ? only : (own?.file ?? shared))
  }
  return homes
}

/** Whether a symbol is declared in the folder of an entry. */
function isBelow({ file }, { module }) {
  return module.file.startsWith(`${dirname(file)}/`)
}

/** The symbols that a statement names. */
function usedBy(parsed, module, statement) {
  return references(statement).flatMap((identifier) => symbolAt(parsed, module, identifier.text) ?? [])
}

const REFERENCES = new WeakMap()

/** The identifiers in a declaration that stand for something at the top of its module, or for something global. */
function references(statement) {
  const known = REFERENCES.get(statement)
  if (known !== undefined) return known
  const found = []
  const visit = (node, bound) => {
    const inner = boundIn(node, bound)
    const named = nameIn(node)
    if (named !== undefined && !inner.has(named.text)) found.push(named)
    if (ts.isImportTypeNode(node)) throw unexpected(node)
    ts.forEachChild(node, (child) => visit(child, inner))
  }
  visit(statement, new Set())
  REFERENCES.set(statement, found)
  return found
}

/** Type parameters, and for `typeof` parameters, which hide names outside of a node. */
function boundIn(node, bound) {
  const own = [
    ...(node.typeParameters ?? []).map(({ name }) => name.text),
    ...(ts.isMappedTypeNode(node) ? [node.typeParameter.name.text] : []),
    ...(ts.isConditionalTypeNode(node) ? inferred(node.extendsType) : []),
    ...(ts.isFunctionLike(node) ? node.parameters.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : [])) : []),
  ]
  return own.length === 0 ? bound : new Set([...bound, ...own])
}

function inferred(node) {
  if (ts.isInferTypeNode(node)) return [node.typeParameter.name.text]
  const found = []
  ts.forEachChild(node, (child) => void found.push(...inferred(child)))
  return found
}

/** The first identifier of what a node refers to. */
function nameIn(node) {
  let name
  if (ts.isTypeReferenceNode(node)) name = node.typeName
  else if (ts.isTypeQueryNode(node)) name = node.exprName
  else if (ts.isExpressionWithTypeArguments(node) || ts.isComputedPropertyName(node)) name = node.expression
  while (name !== undefined && !ts.isIdentifier(name)) name = ts.isQualifiedName(name) ? name.left : name.expression
  return name
}

/** What a file holds: its own symbols, in the order in which they are published, with their names in it, and what it takes from others. */
function contentOf(parsed, homes, { file, names }) {
  const order = new Map()
  const arrange = (symbol) => {
    if (symbol.module === undefined || homes.get(symbol) !== file || order.has(symbol)) return
    order.set(symbol, order.size)
    for (const statement of symbol.statements) for (const used of usedBy(parsed, symbol.module, statement)) arrange(used)
  }
  for (const symbol of names.values()) arrange(symbol)
  for (const [symbol, home] of homes) if (home === file) arrange(symbol)
  const ambient = parsed.get(file)?.ambient ?? []
  const symbols = [...order.keys()]
  const uses = [
    ...symbols.flatMap((symbol) => symbol.statements.map((statement) => ({ module: symbol.module, statement }))),
    ...ambient.map((statement) => ({ module: parsed.get(file), statement })),
  ]
  const locals = new Map()
  const taken = new Set()
  const globals = new Set(
    uses.flatMap(({ module, statement }) =>
      references(statement)
        .filter(({ text }) => symbolAt(parsed, module, text) === undefined)
        .map(({ text }) => text),
    ),
  )
  const imports = new Map()
  const name = (symbol) => {
    if (locals.has(symbol)) return
    const inUse = new Set([...locals.values(), ...globals])
    const publishedAs = [...names].find(([, own]) => own === symbol)?.[0]
    const wanted = publishedAs ?? symbol.name
    const base = symbol.module === undefined ? basename(symbol.from, '.js') : basename(symbol.module.file, '.ts')
    const other = pascal(base) + wanted
    let local = inUse.has(wanted) ? other : wanted
    for (let count = 2; inUse.has(local); count++) local = `${other}${count}`
    locals.set(symbol, local)
    if (symbol.module === undefined || homes.get(symbol) !== file) imports.set(local, symbol)
  }
  for (const symbol of symbols.filter((one) => [...names.values()].includes(one))) name(symbol)
  for (const symbol of symbols) name(symbol)
  for (const { module, statement } of uses) for (const symbol of usedBy(parsed, module, statement)) name(symbol)
  const nameAt = (module, text) => {
    const symbol = symbolAt(parsed, module, text)
    return symbol === undefined ? text : locals.get(symbol)
  }
  return { names, symbols, locals, imports, taken, ambient, nameAt, module: parsed.get(file) }
}

function pascal(text) {
  return text.replace(/(?:^|[-.])(\w)/g, (_, letter) => letter.toUpperCase())
}

/** Under which name a file exports a symbol of its own. */
function exportedName({ names, locals }, symbol) {
  return [...names].find(([, own]) => own === symbol)?.[0] ?? locals.get(symbol)
}

function textOf(contents, homes, file) {
  const content = contents.get(file)
  const { names, symbols, locals, imports, taken, ambient, nameAt, module } = content
  const from = (symbol) => (symbol.module === undefined ? symbol.from : specifier(file, homes.get(symbol)))
  const nameThere = (symbol) => (symbol.module === undefined ? symbol.name : exportedName(contents.get(homes.get(symbol)), symbol))
  const importLines = lines(
    [...imports].map(([local, symbol]) => [from(symbol), alias(nameThere(symbol), local)]),
    'import type',
  )
  const exportedAs = new Map(symbols.map((symbol) => [symbol, [...names].filter(([, own]) => own === symbol).map(([name]) => name)]))
  const isExported = (symbol) => exportedAs.get(symbol).includes(locals.get(symbol)) || taken.has(symbol)
  const renamed = symbols.flatMap((symbol) =>
    exportedAs.get(symbol).flatMap((name) => (name === locals.get(symbol) ? [] : [alias(locals.get(symbol), name)])),
  )
  const passedOn = [...names].filter(([, symbol]) => symbol.module === undefined || homes.get(symbol) !== file)
  const texts = [
    ...symbols.flatMap((symbol) => symbol.statements.map((statement) => written(symbol.module, statement, nameAt, isExported(symbol)))),
    ...ambient.map((statement) => written(module, statement, nameAt, false)),
  ]
  const exportLines = [
    ...lines(
      passedOn.map(([name, symbol]) => [from(symbol), (symbol.isValue === false ? 'type ' : '') + alias(nameThere(symbol), name)]),
      'export',
    ),
    ...(renamed.length > 0 ? [`export { ${renamed.join(', ')} };`] : []),
    // Else what is not exported would be.
    ...(renamed.length === 0 && !symbols.every(isExported) ? ['export {};'] : []),
  ]
  const parts = [importLines.join('\n'), ...texts, exportLines.join('\n')].filter((part) => part !== '')
  return `${parts.join('\n\n')}\n`
}

function alias(name, other) {
  return name === other ? name : `${name} as ${other}`
}

const MAX_LINE = 140

/** Import or export lines, one for each module. */
function lines(pairs, keyword) {
  return [...Map.groupBy(pairs, ([from]) => from)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([from, all]) => {
      const names = all.map(([, name]) => name)
      const line = `${keyword} { ${names.join(', ')} } from '${from}';`
      return line.length <= MAX_LINE ? line : `${keyword} {\n${names.map((name) => `    ${name},\n`).join('')}} from '${from}';`
    })
}

function specifier(file, other) {
  const path = relative(dirname(file), other).replace(/\.ts$/, '.js')
  return path.startsWith('.') ? path : `./${path}`
}

/** A statement with its comments, and the names that its parts have in the file. */
function written(module, statement, nameAt, isExported) {
  const start = statement.getFullStart()
  const text = module.source.text.slice(start, statement.end)
  const edits = references(statement).map((identifier) => ({ identifier, name: nameAt(module, identifier.text) }))
  for (const own of statement.name === undefined ? (statement.declarationList?.declarations ?? []) : [statement])
    if (ts.isIdentifier(own.name)) edits.push({ identifier: own.name, name: nameAt(module, own.name.text) })
  const keyword = statement.modifiers?.find(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  const changes = edits.map(({ identifier, name }) => ({ from: identifier.getStart(), to: identifier.end, text: name }))
  if (keyword !== undefined) changes.push({ from: keyword.getStart(), to: keyword.end + 1, text: isExported ? 'export ' : '' })
  else if (isExported) changes.push({ from: statement.getStart(), to: statement.getStart(), text: 'export ' })
  let result = text
  for (const change of changes.toSorted((a, b) => b.from - a.from))
    result = result.slice(0, change.from - start) + change.text + result.slice(change.to - start)
  return result.trim()
}
