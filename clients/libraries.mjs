// The client libraries, each with a count of the methods that worked.
import { JunctionClient, serialization as junctionTypes } from '@junction-api/sdk'
import { VitalClient, serialization as vitalTypes } from '@tryvital/vital-node'

const libraries = {
  junction: { Client: JunctionClient, types: junctionTypes },
  vital: { Client: VitalClient, types: vitalTypes },
}

// library makes the client of that name, calling the service at base with key.
//
// It has these members:
//   name: the name of the library.
//   client: the client itself, with client.user.get(…) as in junction's manual. See spread.
//   types: the decoders, such as types.ClientFacingUser.parseOrThrow(…).
//   uncalled: returns the methods that were never called with success.
export function library(name, base, key) {
  const { Client, types } = libraries[name]
  const client = new Client({ apiKey: key, baseUrl: base, maxRetries: 0 })
  for (const type of Object.values(types)) beStrict(type)
  const worked = new Set()
  return {
    name,
    types,
    client: watched(client, '', worked),
    uncalled: () => methods(client, '').filter((method) => !worked.has(method)),
  }
}

// beStrict makes a decoder refuse words and members of unions that its library does not
// know. The libraries accept them, because services may be newer. Further members of
// objects are allowed, as in the libraries.
function beStrict(type) {
  const parse = type?.parseOrThrow
  if (parse === undefined) return
  type.parseOrThrow = (value, options) => {
    const strict = {
      unrecognizedObjectKeys: 'passthrough', ...options, allowUnrecognizedEnumValues: false, allowUnrecognizedUnionMembers: false,
    }
    try {
      return parse(value, strict)
    } catch (error) {
      if (!error.errors?.every(isNewer)) throw error
      return parse(value, { ...strict, allowUnrecognizedEnumValues: true })
    }
  }
}

// newer lists words of the specification and of junction that vital's older enums lack.
const newer = [
  'corrected', 'lab_processing_blocked', 'sonora_quest', 'stool',
  // Reasons of unmatched results that Hale adds.
  'last_name_mismatch', 'first_name_mismatch', 'birth_date_mismatch', 'sex_mismatch', 'last_name_missing', 'first_name_missing', 'birth_date_missing', 'network_mismatch',
]

// isNewer reports whether such a word is the only problem of a decoder, alone or at the
// end of an order's status.
function isNewer({ message }) {
  const word = /^Expected enum. Received "(?:.+\.)?(\w+)"/.exec(message)?.[1]
  return newer.includes(word)
}

// watched returns a client that records each method whose promise was fulfilled.
function watched(part, path, worked) {
  return new Proxy(part, {
    get(target, name) {
      const value = target[name]
      if (typeof value === 'object' && value !== null && typeof name === 'string' && !name.startsWith('_')) {
        return watched(value, `${path}${name}.`, worked)
      }
      if (typeof value !== 'function' || name.startsWith('_')) return value
      return async (...args) => {
        const method = path + name
        let answer
        try {
          answer = await value.apply(target, spread(value, args, takesBody(target, name)))
        } catch (error) {
          error.method ??= method
          throw error
        }
        worked.add(method)
        return answer
      }
    },
  })
}

// spread returns the arguments of a method. Walks pass one object, like the methods of
// junction. The methods of vital take the parameters of the path one by one before it:
// get({ userId, provider }) is get(userId, { provider }). Some of them take only the body
// after the path, while junction's take its members.
function spread(method, [request, ...options], body) {
  const names = method.toString().match(/\(([^)]*)\)/)[1].split(',').map((name) => name.split('=')[0].trim())
  const path = names.slice(0, names.findIndex((name) => name === 'request' || name === 'requestOptions'))
  const rest = { ...request }
  const parts = path.map((name) => {
    const camel = name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
    const part = rest[camel]
    delete rest[camel]
    return part
  })
  const whole = rest.body !== undefined && !body ? rest.body : rest
  return names.includes('request') ? [...parts, whole, ...options] : [...parts, ...options]
}

// takesBody reports whether a method of a client reads a body from its request.
function takesBody(target, name) {
  return /\bbody: _body\b/.test(target[`__${name}`])
}

// methods lists the public methods of a client and of its parts, such as "user.get".
function methods(part, path) {
  const found = []
  const prototype = Object.getPrototypeOf(part)
  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (name === 'constructor' || name.startsWith('_')) continue
    const { get } = Object.getOwnPropertyDescriptor(prototype, name)
    if (!get) found.push(path + name)
    else if (typeof part[name] === 'object') found.push(...methods(part[name], `${path}${name}.`))
  }
  return found
}

// inWords describes the failure of a walk: the method, and the answer's status and body,
// or the part that the library could not decode.
export function inWords(error) {
  const words = [error.method, error.message].filter(Boolean).join(': ')
  if (error.body !== undefined) return `${words} ${JSON.stringify(error.body)}`
  if (error.errors !== undefined) return `${words} ${JSON.stringify(error.errors)}`
  return error.method ? words : error.stack
}
