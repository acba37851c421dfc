// Marks what constants of modules are made by as free of side effects, so that a page that bundles the built files leaves out the tables of what it does not call.
import { parseSync } from 'rolldown/utils'

/** Expressions that a bundler does not take to be free of side effects. */
const EFFECTS = new Set([
  'CallExpression',
  'NewExpression',
  'TaggedTemplateExpression',
  'TemplateLiteral',
  'SpreadElement',
  'MemberExpression',
])
/** What is in them happens later. */
const LATER = new Set(['FunctionExpression', 'ArrowFunctionExpression', 'ClassExpression'])

/** A plugin of Rolldown. No line moves, so that source maps stay true. */
export function pureConstants() {
  return { name: 'pure-constants', renderChunk: (code, { fileName }) => ({ code: marked(fileName, code), map: null }) }
}

function marked(fileName, code) {
  const { program, errors } = parseSync(fileName, code)
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`)
  const values = program.body
    .filter(({ type }) => type === 'VariableDeclaration')
    .flatMap(({ declarations }) => declarations.map(({ init }) => init))
    .filter((init) => init !== null && hasEffects(init))
  let [text, at] = ['', 0]
  for (const { start, end } of values) {
    text += `${code.slice(at, start)}/* @__PURE__ */ (() => (${code.slice(start, end)}))()`
    at = end
  }
  return text + code.slice(at)
}

function hasEffects(node) {
  if (node === null || typeof node !== 'object') return false
  if (Array.isArray(node)) return node.some(hasEffects)
  if (LATER.has(node.type)) return false
  return EFFECTS.has(node.type) || Object.values(node).some(hasEffects)
}
