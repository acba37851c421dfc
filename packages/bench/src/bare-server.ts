// A server process: plain node:http that reads the body and returns an answer of the requested length. It is the limit of what a handler can reach.
import { createServer } from 'node:http'
import { announce } from './http/announce.js'

const answer = 'x'.repeat(Number(process.argv[2] ?? 0))
const contentType = process.argv[3] ?? 'application/json'
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(200, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(answer) }).end(answer))
})
announce(server, {})
