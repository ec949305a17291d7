//! A secret in the field of a body, by real code in a real sandbox.

use super::{VALUE, is_unseen, person, run, world::World};
use crate::scene::Who;

#[test]
fn code_uses_a_secret_in_a_field_and_nowhere_else() {
    for who in Who::all() {
        let world = World::start();
        let scene = person(who, &world);
        scene.run_with_input(&["secret", "set", "MY_TOKEN"], VALUE.as_bytes()).exits(0);
        let allow = ["secret", "allow", "MY_TOKEN", "api.example", "--field", "auth.key"];
        scene
            .run(&allow)
            .mentions("Code can use MY_TOKEN for POST to api.example, in the field `auth.key`")
            .exits(0);
        let code = "
import json, urllib.parse
def post(path, value, kind='application/json', method='POST', **more):
    text = value if isinstance(value, str) else json.dumps(value)
    ask('https://api.example' + path, {'Content-Type': kind, **more}, method, text.encode())
form = 'application/x-www-form-urlencoded'
post('/json', {'a': 1, 'auth': {'key': token}})
post('/form', urllib.parse.urlencode({'a': 'b c', 'auth.key': token}), form)
# The attacks.
post('/other', {'note': token})
post('/decoy', {'x': {'auth': {'key': token}}})
post('/twice', '{\"auth\": {\"key\": \"x\", \"key\": \"' + token + '\"}}')
post('/plain', {'auth': {'key': token}}, 'text/plain')
post('/packed', {'auth': {'key': token}}, **{'Content-Encoding': 'gzip'})
post('/long', {'auth': {'key': token}, 'pad': 'x' * (1 << 20)})
post('/put', {'auth': {'key': token}}, method='PUT')
post('/header', {}, **bearer)
post('/?auth.key=' + token, {})";
        let seen = is_unseen(run(&scene, &[], code)).exits(0);
        let heard = world.heard();
        assert!(heard.contains(&format!(r#"{{"a": 1, "auth": {{"key": "{VALUE}"}}}}"#)), "{heard}");
        assert!(heard.contains(&format!("a=b+c&auth.key={VALUE}")), "{heard}");
        assert_eq!(heard.matches(VALUE).count(), 2, "{heard}");
        assert_eq!(heard.matches("placeholder-MY_TOKEN-").count(), 9, "{heard}");
        // Whatever the server shows of the body is masked.
        assert!(seen.stdout().contains(&"*".repeat(VALUE.len())));
        seen.mentions("used MY_TOKEN for POST api.example/json")
            .mentions("used MY_TOKEN for POST api.example/form")
            .mentions("for POST api.example/other: you allowed it in the field `auth.key` only")
            .mentions("api.example/twice: its body cannot be read in one way only")
            .mentions("api.example/long: a field needs a Content-Length of at most 1 MiB")
            .mentions("an address carries no secrets");
    }
}
