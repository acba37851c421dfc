import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'

const EXPECTED = join(import.meta.dirname, 'screenshots')
/** In README and on the page of the playground. */
const PICTURE = join(import.meta.dirname, '../../../../docs/pictures/playground.webp')
/** Kept for whoever wants to look; not committed. */
const OUTPUT = join(import.meta.dirname, 'output')

/** So far apart are values (of 255) of a colour that is clearly another one. */
const CLEARLY = 12

/**
 * Compares a screenshot with the committed one by the colours of a grid of cells: where things are and how they look, not which font the
 * machine has. `UPDATE_SCREENSHOTS=1` writes the committed one.
 *
 * @returns The share of cells that are clearly another colour: below 0.03 for other fonts, above 0.1 for another operation.
 */
export async function differenceFrom(browser: Browser, name: string, screenshot: Buffer): Promise<number> {
  mkdirSync(OUTPUT, { recursive: true })
  writeFileSync(join(OUTPUT, `${name}.png`), screenshot)
  const expected = join(EXPECTED, `${name}.png`)
  if (process.env['UPDATE_SCREENSHOTS'] === '1') writeFileSync(expected, screenshot)
  if (!existsSync(expected)) throw new Error(`There is no ${expected}; UPDATE_SCREENSHOTS=1 writes it.`)
  return difference(browser, screenshot, readFileSync(expected))
}

/** The picture of the page in the documentation, compared in the same way; `UPDATE_SCREENSHOTS=1` writes it. */
export async function differenceFromDocumentation(browser: Browser, screenshot: Buffer): Promise<number> {
  if (process.env['UPDATE_SCREENSHOTS'] === '1') writeFileSync(PICTURE, await webpOf(browser, screenshot))
  const picture = readFileSync(PICTURE)
  return Math.max(await difference(browser, screenshot, picture), await difference(browser, screenshot, picture, MENU))
}

/** What is left, top, wide and high: an operation more is little of the whole. */
const MENU: Clip = [0, 60, 200, 520]

type Clip = readonly [left: number, top: number, width: number, height: number]

async function webpOf(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage()
  try {
    return Buffer.from(String(await page.evaluate(`(${WEBP})(${JSON.stringify(png.toString('base64'))})`)), 'base64')
  } finally {
    await page.close()
  }
}

/** Runs in the browser. */
const WEBP = `async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes]))
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  canvas.getContext('2d').drawImage(bitmap, 0, 0)
  const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.9 })
  const written = new Uint8Array(await blob.arrayBuffer())
  return btoa(Array.from(written, (byte) => String.fromCharCode(byte)).join(''))
}`

/** The same for two pictures, or a part of them. */
export async function difference(browser: Browser, one: Buffer, other: Buffer, clip?: Clip): Promise<number> {
  const page = await browser.newPage()
  try {
    const pictures = JSON.stringify([one, other].map((picture) => picture.toString('base64')))
    const cells: unknown = await page.evaluate(`(${CELLS})(${pictures}, ${JSON.stringify(clip ?? [])})`)
    const [left = [], right = []] = cells as number[][]
    const differences = left.map((value, index) => Math.abs(value - (right[index] ?? 255)))
    return differences.filter((value) => value > CLEARLY).length / differences.length
  } finally {
    await page.close()
  }
}

/** Draws pictures as small as the grid; runs in the browser, which has what is needed for it. */
const CELLS = `async (pictures, clip) => Promise.all(pictures.map(async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes]), ...clip, { resizeWidth: 40, resizeHeight: 28, resizeQuality: 'high' })
  const canvas = new OffscreenCanvas(40, 28)
  const context = canvas.getContext('2d')
  context.drawImage(bitmap, 0, 0)
  return [...context.getImageData(0, 0, 40, 28).data].filter((_, index) => index % 4 !== 3)
}))`
