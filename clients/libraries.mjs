// The client libraries, each with a count of the methods that worked.
import { JunctionClient, serialization as junctionTypes } from '@junction-api/sdk'
import { VitalClient, serialization as vitalTypes } from '@tryvital/vital-node'

const libraries = {
  junction: { Client: JunctionClient, types: junctionTypes },
  vital: { Client: VitalClient, types: vitalTypes },
}

// library makes the client of that name, calling the service at base with key.
//
// It has: name, the client itself (client.user.get(…) as junction's manual says:
// see spread), types (its decoders: types.ClientFacingUser.parseOrThrow(…)) and
// uncalled(), the methods that nothing has called with success.
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

// beStrict makes a decoder refuse words and members of unions that its library
// does not know, which the libraries let pass for the sake of newer services.
// Further members of objects may be there, as for the libraries.
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

// newer are words of the specification, and junction's, that vital's enums lack
// because it is older.
const newer = [
  'corrected', 'lab_processing_blocked', 'sonora_quest', 'stool',
  // Reasons of unmatched results that Hale adds.
  'last_name_mismatch', 'first_name_mismatch', 'birth_date_mismatch', 'sex_mismatch', 'last_name_missing', 'first_name_missing', 'birth_date_missing', 'network_mismatch',
]

// isNewer says whether a decoder found nothing wrong but such a word, alone or
// at the end of an order's status.
function isNewer({ message }) {
  const word = /^Expected enum. Received "(?:.+\.)?(\w+)"/.exec(message)?.[1]
  return newer.includes(word)
}

// watched is a client that notes each method whose promise was fulfilled.
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

// spread is what a method is called with. Walks give everything in one object,
// as junction's methods take it; vital's take what stands in the path before it,
// one by one: get({ userId, provider }) is get(userId, { provider }). A body
// that junction's take apart is all that some of vital's take behind the path.
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

// takesBody says whether a method of a client looks for a body in its request.
function takesBody(target, name) {
  return /\bbody: _body\b/.test(target[`__${name}`])
}

// methods are the public methods of a client and of its parts: "user.get".
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

// inWords is what a walk failed with: the method, and the answer's status and
// body, or what the library could not read in it.
export function inWords(error) {
  const words = [error.method, error.message].filter(Boolean).join(': ')
  if (error.body !== undefined) return `${words} ${JSON.stringify(error.body)}`
  if (error.errors !== undefined) return `${words} ${JSON.stringify(error.errors)}`
  return error.method ? words : error.stack
}
